-- Every part of one to three characters of a name, in lower case: an index over them finds names by any part. A part is a
-- number of 21 bits for each character. PostgreSQL itself has no such index, and pg_trgm is an extension, which not every
-- server allows.
CREATE FUNCTION "customer_name_parts"("name" text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	parts bigint[] := '{}';
	letter text;
	code bigint;
	before bigint := 0;
	two_before bigint := 0;
BEGIN
	FOREACH letter IN ARRAY string_to_array(lower("name"), NULL) LOOP
		code := ascii(letter);
		parts := parts || code;
		IF before > 0 THEN parts := parts || ((before << 21) | code); END IF;
		IF two_before > 0 THEN parts := parts || ((two_before << 42) | (before << 21) | code); END IF;
		two_before := before;
		before := code;
	END LOOP;
	RETURN parts;
END
$$;
--> statement-breakpoint
CREATE INDEX "custom_field_values_search" ON "custom_field_values" USING btree ("key_id",(lower("value")) collate "C");--> statement-breakpoint
CREATE INDEX "customers_name_parts" ON "customers" USING gin (customer_name_parts("name"));--> statement-breakpoint
CREATE INDEX "ingest_aliases_search" ON "ingest_aliases" USING btree ((lower("alias")) collate "C");