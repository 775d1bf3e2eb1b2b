# Counts by the function `ingest`, which needs no token.
curl "$INGEST" --data @- <<JSON
{
  "id": "$BATCH",
  "events": [{ "counter": "downloads:app", "by": 3 }]
}
JSON
