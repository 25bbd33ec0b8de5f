-- Gives the euro the id that clients know it by. Every column that can hold a pricing unit is searched: the ids in
-- columns of their own, and those inside JSON.
DO $$
DECLARE
  old_id constant text := 'aa71c77b-61bc-5761-8f36-f5a708b36ad6';
  new_id constant text := '58f0be15-cc47-4220-bdaf-072ab0e44f96';
  place record;
BEGIN
  FOR place IN
    SELECT columns.table_name, columns.column_name, columns.data_type
    FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE columns.table_schema = 'public'
      AND tables.table_type = 'BASE TABLE'
      AND (columns.data_type = 'jsonb' OR (columns.data_type = 'uuid' AND columns.column_name LIKE '%credit_type_id'))
  LOOP
    IF place.data_type = 'uuid' THEN
      EXECUTE format('UPDATE %1$I SET %2$I = %4$L WHERE %2$I = %3$L',
        place.table_name, place.column_name, old_id, new_id);
    ELSE
      EXECUTE format('UPDATE %1$I SET %2$I = replace(%2$I::text, %3$L, %4$L)::jsonb WHERE %2$I::text LIKE %5$L',
        place.table_name, place.column_name, old_id, new_id, '%' || old_id || '%');
    END IF;
  END LOOP;
END $$;
