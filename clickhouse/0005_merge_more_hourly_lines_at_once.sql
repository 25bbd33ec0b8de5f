-- The end of a month writes hundreds of parts in a row. Merged sixteen at a time instead of five, each line is written
-- again half as often. A breakdown looks into a few more parts, by their primary keys.
ALTER TABLE invoice_hourly_lines${LOCAL} ${ON_CLUSTER} MODIFY SETTING merge_selector_base = 16;
