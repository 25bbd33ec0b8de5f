-- The hourly lines of finalized invoices, frozen at finalization; never updated.
--
-- `breakdown_id` is made anew for every attempt to freeze and stored with the invoice in the same
-- transaction that finalizes it, so rows of an attempt that did not finish belong to no invoice.
--
-- Quantity and amount are the exact decimal as text. A Decimal(76, 30) would be shorter but is not
-- lossless: a quantity with 12 decimals times a price with 20 already has 32, and an overflow would
-- refuse the invoice. They are summed exactly by the service and never inside the database.
--
-- One row per line with its hours as arrays: the end of a month freezes thousands of hours of each of
-- thousands of invoices, and a row for each hour costs several times as much to write and to read.
CREATE TABLE IF NOT EXISTS invoice_hourly_lines${LOCAL} ${ON_CLUSTER}
(
  breakdown_id UUID                   COMMENT 'The frozen breakdown that an invoice points to',
  line_index   UInt32                 COMMENT 'Position of the line on the invoice',
  first_hour   DateTime('UTC')        COMMENT 'The first of the hours',
  hours        Array(DateTime('UTC')) COMMENT 'First seconds of the hours in which something happened, ascending',
  quantities   Array(String)          COMMENT 'Exact decimal of each hour',
  amounts      Array(String)          COMMENT 'Exact decimal of each hour, in the minor unit of the invoice'
)
ENGINE = ${REPLICATED}MergeTree
PARTITION BY toYYYYMM(first_hour)
ORDER BY (breakdown_id, line_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
  min_compressed_bytes_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1;

-- only on a cluster
CREATE TABLE IF NOT EXISTS invoice_hourly_lines ${ON_CLUSTER}
AS invoice_hourly_lines${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), invoice_hourly_lines${LOCAL}, sipHash64(breakdown_id));
