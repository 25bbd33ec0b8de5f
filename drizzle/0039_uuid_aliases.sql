-- UUIDs have no letter case on input: events come under them in lower case from now on. An ingest alias that is a UUID and
-- was stored with capitals gets its form in lower case beside it, unless that is a customer's id or an alias already. The
-- stored one stays, because events were stored under it.
INSERT INTO "ingest_aliases" ("alias", "customer_id", "position")
SELECT lower(a."alias"), a."customer_id",
  (SELECT max(o."position") FROM "ingest_aliases" AS o WHERE o."customer_id" = a."customer_id")
    + row_number() OVER (PARTITION BY a."customer_id" ORDER BY a."position")
FROM "ingest_aliases" AS a
WHERE a."alias" ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
  AND a."alias" <> lower(a."alias")
  AND NOT EXISTS (SELECT 1 FROM "customers" AS c WHERE c."id"::text = lower(a."alias"))
ORDER BY a."alias"
ON CONFLICT DO NOTHING;
