# Reads the total of a counter.
DOCUMENTS="projects/$PROJECT/databases/(default)/documents"

curl "$FIRESTORE/v1/$DOCUMENTS:batchGet" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" --data @- <<JSON
{
  "documents": ["$DOCUMENTS/counters/downloads:app"],
  "mask": { "fieldPaths": ["total"] }
}
JSON
