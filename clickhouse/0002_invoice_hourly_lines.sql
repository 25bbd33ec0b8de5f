-- The hourly lines of finalized invoices, frozen at finalization; never updated.
--
-- `breakdown_id` is made anew for every attempt to freeze and stored with the invoice in the same
-- transaction that finalizes it, so rows of an attempt that did not finish belong to no invoice.
--
-- Quantity and amount are the exact decimal as text. A Decimal(76, 30) would be shorter but is not
-- lossless: a quantity with 12 decimals times a price with 20 already has 32, and an overflow would
-- refuse the invoice. They are summed exactly by the service and never inside the database.
CREATE TABLE IF NOT EXISTS invoice_hourly_lines${LOCAL} ${ON_CLUSTER}
(
  breakdown_id UUID            COMMENT 'The frozen breakdown that an invoice points to',
  line_index   UInt32          COMMENT 'Position of the line on the invoice',
  window_start DateTime('UTC') COMMENT 'First second of the hour',
  quantity     String          COMMENT 'Exact decimal',
  amount       String          COMMENT 'Exact decimal in the minor unit of the invoice'
)
ENGINE = ${REPLICATED}MergeTree
PARTITION BY toYYYYMM(window_start)
ORDER BY (breakdown_id, window_start, line_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
  min_compressed_bytes_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1;

-- only on a cluster
CREATE TABLE IF NOT EXISTS invoice_hourly_lines ${ON_CLUSTER}
AS invoice_hourly_lines${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), invoice_hourly_lines${LOCAL}, sipHash64(breakdown_id));
