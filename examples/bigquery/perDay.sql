-- What each counter has counted on each day, in UTC. A record may be there twice, with the same id.
WITH records AS (
  SELECT DISTINCT id, counter, `by`, `at` FROM analytics.tally
)
SELECT DATE(`at`) AS day, counter, SUM(`by`) AS counted
FROM records
GROUP BY day, counter
ORDER BY day, counter
