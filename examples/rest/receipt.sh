# Counts a download. A request that is sent again, with the same receipt, counts once.
DOCUMENTS="projects/$PROJECT/databases/(default)/documents"
COUNTER="$DOCUMENTS/counters/downloads:app"

curl "$FIRESTORE/v1/$DOCUMENTS:commit" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" --data @- <<JSON
{
  "writes": [
    {
      "update": {
        "name": "$COUNTER/tallyReceipts/$RECEIPT",
        "fields": { "expireAt": { "timestampValue": "$TOMORROW" } }
      },
      "currentDocument": { "exists": false }
    },
    {
      "update": {
        "name": "$COUNTER/shards/0",
        "fields": { "shard": { "stringValue": "0" } }
      },
      "updateMask": { "fieldPaths": ["shard"] },
      "updateTransforms": [
        { "fieldPath": "count", "increment": { "integerValue": "1" } },
        { "fieldPath": "writes", "increment": { "integerValue": "1" } },
        { "fieldPath": "at", "setToServerValue": "REQUEST_TIME" }
      ]
    }
  ]
}
JSON
