-- What analysts may read of PostgreSQL, for the views of deploy/analysts-clickhouse.sql (docs/reference/sql.md). Apply it to the
-- service's database as the owner of its tables, and again after each upgrade. It changes no table, but adds the row by
-- which the service begins to publish balances.
--
-- Numbers are texts, because ClickHouse would cut a numeric without a precision; instants are epoch milliseconds.
CREATE SCHEMA IF NOT EXISTS analysts;

CREATE OR REPLACE FUNCTION analysts.millis(at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (extract(epoch FROM at) * 1000)::bigint';

CREATE OR REPLACE FUNCTION analysts.exact(value numeric) RETURNS text
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT trim_scale(round(value, 30))::text';

CREATE OR REPLACE VIEW analysts.customers AS
SELECT id::text AS customer_id, name, analysts.millis(created_at) AS created_at,
  analysts.millis(archived_at) AS archived_at, billing_address ->> 'country' AS country
FROM public.customers;

-- What the references in events mean: a customer's own id, or one of its ingest aliases.
CREATE OR REPLACE VIEW analysts.event_owners AS
SELECT id::text AS customer_ref, id::text AS customer_id FROM public.customers
UNION ALL
SELECT alias, customer_id::text FROM public.ingest_aliases
WHERE NOT EXISTS (SELECT 1 FROM public.customers WHERE customers.id::text = ingest_aliases.alias);

-- The corrections of events that stand.
CREATE OR REPLACE VIEW analysts.event_corrections AS
SELECT attempt::text AS attempt FROM public.event_corrections WHERE status = 'applied';

CREATE OR REPLACE VIEW analysts.contracts AS
SELECT id::text AS contract_id, customer_id::text AS customer_id, name, rate_card_id::text AS rate_card_id,
  analysts.millis(starting_at) AS starting_at, analysts.millis(ending_before) AS ending_before,
  analysts.millis(archived_at) AS archived_at
FROM public.contracts;

-- The currencies that every service knows, and the custom units.
CREATE OR REPLACE VIEW analysts.credit_types AS
SELECT id::text AS credit_type_id, name FROM public.credit_types
UNION ALL
VALUES
  ('2714e483-4ff1-48e4-9e25-ac732e8f24f2', 'USD (cents)'),
  ('58f0be15-cc47-4220-bdaf-072ab0e44f96', 'EUR'),
  ('86173fc2-db21-5925-ae1f-a400feacd03e', 'GBP'),
  ('1888d3f0-9098-5e1f-9644-620cddce74ea', 'AUD'),
  ('dccb165e-2b63-5a64-9e62-ff6ca5650938', 'BRL'),
  ('551a20e5-9ff0-5925-84d9-d0b4079245ca', 'CAD'),
  ('9d5944c5-6a4f-515f-a09a-2b9d0b63a13d', 'CHF'),
  ('06332c9e-5be2-5cb6-8d4c-fad687f6da79', 'CZK'),
  ('1e2f5163-60de-5e71-ac65-cb43bb0e036f', 'INR'),
  ('6b4677a2-5211-5013-96ed-b62ca4b1be9f', 'MXN'),
  ('b8625003-bedb-5fdc-b403-502fcddc6b14', 'NGN'),
  ('032a10f6-bf84-5952-84cd-47b08a75ecf7', 'NOK'),
  ('03a1802d-0866-52b1-bfc9-c37c61b74b9d', 'PLN'),
  ('01e66486-9a1e-5251-b182-45f4c887048e', 'SEK'),
  ('b6b26eb2-6206-5a99-9737-051c7244ca39', 'TRY'),
  ('30428824-b3ec-59e4-a816-9f70cebab5dc', 'ZAR'),
  ('a08e8756-9245-53a4-94d2-c4e3f28abad3', 'NZD'),
  ('bdcdd5e1-c96e-5622-bf99-dfa6cb173059', 'SGD'),
  ('2c1e471b-6274-5d4e-91ae-380fd9f2155e', 'AED'),
  ('170ad895-90e8-5b92-8a04-c6ef17bd2505', 'AFN'),
  ('0c68c9cb-48c4-53e0-b39d-eccb29a71185', 'ALL'),
  ('2d6fb01d-c852-563a-808d-e6bb276a5d7b', 'AMD'),
  ('ef31a14c-bb2d-5857-ac01-baae765ace2b', 'AOA'),
  ('9f1f7487-2868-565d-8bea-c7d2018f436d', 'ARS'),
  ('48934b9c-87b2-5594-8b9e-d45514934225', 'AWG'),
  ('3504ae75-36da-5c21-ae90-1bf3f2fbfe9d', 'AZN'),
  ('75b8d319-13d5-5378-89ed-afb9afe2725c', 'BAM'),
  ('a9529948-a8dd-52e5-8a35-58105cfb77cf', 'BBD'),
  ('b42c1978-c288-5009-af9f-08cc4542678d', 'BDT'),
  ('76c2ff10-9fa1-55fe-98f7-b74473df3dba', 'BGN'),
  ('c888fa01-0664-580f-b289-ba82b48023fd', 'BHD'),
  ('4e6fbc59-27e6-56c4-8fd8-c7aa914887bf', 'BIF'),
  ('4d0c56f6-27c7-58f5-9c61-19a5ba340ed7', 'BMD'),
  ('9bddbb3d-fd7a-580f-96ce-842d9fcbf72d', 'BND'),
  ('cb68b09b-0ae9-5278-a63b-c79638abd54c', 'BOB'),
  ('1316115a-5ce2-555d-9977-5284a316fc16', 'BOV'),
  ('8060d6f3-0dd5-5764-a0fb-fa74cff6e542', 'BSD'),
  ('b2badecc-4883-5f23-8ed2-9a0f7b92d837', 'BTN'),
  ('9a8853f5-26c3-56fb-88dd-7c68ea89a081', 'BWP'),
  ('5a32622a-c9f3-5681-9914-8844e9556b6f', 'BYN'),
  ('cb6be8af-7529-5e6c-a3c3-550039a4b2ba', 'BZD'),
  ('a5b9de6e-48d7-5039-adad-9dff229aff0e', 'CDF'),
  ('be84495f-9e90-5e51-83a9-13a135bb1e86', 'CHE'),
  ('f6e289b0-8088-57c9-88db-f6ab259099f0', 'CHW'),
  ('acdbd130-5520-5206-83c7-eee9299e7173', 'CLF'),
  ('339d21c8-ae54-5534-9a53-e864bf5f2046', 'CLP'),
  ('7e6625a9-5973-5573-a9dd-f08beb284fda', 'CNY'),
  ('5516388d-254a-550b-b3b1-e5a73968582a', 'COP'),
  ('62872a30-7267-5ea0-adf5-ddf47627d5d5', 'COU'),
  ('bdbff443-5f7a-5656-b729-df6b933298eb', 'CRC'),
  ('2833fc72-ee23-5c79-8254-8e0a55cd8df3', 'CUP'),
  ('d9f9365a-0587-5411-9fae-437c065048dd', 'CVE'),
  ('dafb7037-bcf9-5446-ba18-63c76e28fae3', 'DJF'),
  ('5fd97e3e-609f-5d8f-8e93-315899467965', 'DKK'),
  ('b7392016-001e-5fae-8f45-13e311930c36', 'DOP'),
  ('cab213a0-76fb-51d0-a106-06dc299486ad', 'DZD'),
  ('3c2eda18-6109-5886-8bea-0c21d9932d28', 'EGP'),
  ('13f0d8c9-4de1-57a8-a8dc-53a6042c0e98', 'ERN'),
  ('89cc01e7-8019-5ea1-bef4-834fd2e9ae3e', 'ETB'),
  ('de7daef4-61d9-5b6e-9169-7ba0bd707c5b', 'FJD'),
  ('08c5dc65-aa16-5b8e-a047-bab78f2fbda1', 'FKP'),
  ('5bf4bd6f-7f6f-5804-bd27-3b7cf9aa7d05', 'GEL'),
  ('f924157c-54df-5659-84e1-ed50eb97e793', 'GHS'),
  ('fde4e9bf-f8d8-5de3-a8cd-ddda18faa177', 'GIP'),
  ('f1a4df83-7b9d-5001-ac62-90bbbf5b3192', 'GMD'),
  ('38844c3f-551a-5434-ad86-950f0c23c73c', 'GNF'),
  ('86dfa306-7685-501a-a91f-8ecd9c9d9eed', 'GTQ'),
  ('779ec0af-c5a9-51ee-8b90-dbab3211d442', 'GYD'),
  ('4a1b05c4-1774-5dce-a5c8-d558baabb2f0', 'HKD'),
  ('987f91b9-d1c8-5b93-b7a9-27f4d02f2b19', 'HNL'),
  ('2fc0fc21-6f56-59a1-8afc-ee3935c6a2dd', 'HTG'),
  ('91e150f9-de00-59a7-b65f-e6724693077c', 'HUF'),
  ('0810f770-12ab-54e8-a400-eb61da03ccb1', 'IDR'),
  ('0451c7f8-cba5-5b9b-9b29-0c877c4dc1e6', 'ILS'),
  ('354a47a4-305c-5184-bde3-90a1a11d4f40', 'IQD'),
  ('11af7c93-1283-5100-9130-250c1c825ba1', 'IRR'),
  ('9cad3d00-7444-52e1-be0a-f14b8fa4764a', 'ISK'),
  ('fba2c05b-d648-5a95-892a-360bdf8778e7', 'JMD'),
  ('49d0c956-9acc-58d0-ad35-2beb33110e2d', 'JOD'),
  ('f5166a3b-0c81-59d5-9edb-4ed416a8965f', 'JPY'),
  ('bca26f72-1b20-567c-9524-89b15a421922', 'KES'),
  ('073b2bca-9ccf-5132-a638-11beda4f803c', 'KGS'),
  ('4fe0047a-f435-5008-b1b3-a0f83221a793', 'KHR'),
  ('070c5d25-cdaf-5950-9b0c-72b471c774d3', 'KMF'),
  ('485928a6-fb50-5530-a297-c5e2c31bd702', 'KPW'),
  ('583c8034-da6d-5ea9-ac6e-9a14dfee8d1d', 'KRW'),
  ('7e0ea896-b382-5fb3-a13a-89b076a02f4e', 'KWD'),
  ('1ce70252-6321-518a-8c73-c3cfededadec', 'KYD'),
  ('3a525257-3472-5682-8888-5c24aa9816b6', 'KZT'),
  ('ffa48baa-e475-59c1-a262-e1c2d0854575', 'LAK'),
  ('549ae037-80af-5169-9329-594d21bd6067', 'LBP'),
  ('ef8ea108-1b7b-5bb7-b6bc-abbcaec4dbea', 'LKR'),
  ('23524038-1177-5486-b375-f30b54a5feb2', 'LRD'),
  ('1d8a4159-ace6-50b8-bcbb-f5e308129d2f', 'LSL'),
  ('2d1e1429-9034-5100-99dd-2375884ed3fb', 'LYD'),
  ('dd064a27-a42b-51f0-9ebb-453bf31621da', 'MAD'),
  ('8cbaf1bb-7b92-5a26-8fe0-95f715845174', 'MDL'),
  ('8e29410f-612a-56cf-b777-7c210f6856ba', 'MGA'),
  ('6e4add9f-c843-54ba-adcc-3a600e020a00', 'MKD'),
  ('4a859881-148b-596b-999f-be3533a3ce36', 'MMK'),
  ('3ca95c06-44f9-5c61-85d0-b06f2c5a254b', 'MNT'),
  ('5dc80fff-a6f4-5a84-8d1b-d5e43401eb2a', 'MOP'),
  ('6123a65b-e821-5cf4-a261-6aa61e8f3631', 'MRU'),
  ('0552b724-30d2-568e-8ba5-8ec9c42a2a41', 'MUR'),
  ('4012df27-786a-55c7-a305-b593e9613384', 'MVR'),
  ('82b0c0f4-fa02-5180-9361-069821b6b717', 'MWK'),
  ('b632e9b8-ba58-57ab-b515-82076bbbdd0c', 'MXV'),
  ('eaecc782-a4d0-5120-824c-71c4b8a12b57', 'MYR'),
  ('d8326ea7-6194-5f7e-84ff-2c8314620e99', 'MZN'),
  ('e94febd0-f7ee-5523-8a0c-de15a0cd125e', 'NAD'),
  ('44d466fc-e14f-5983-ad03-5b7c9e4185b6', 'NIO'),
  ('1a6057c2-5de6-588a-880d-a5e33d010fbb', 'NPR'),
  ('7e922173-8e07-592a-b566-3730fe64f8a4', 'OMR'),
  ('f2b4e97d-421a-5d6f-8a06-00b9c9347680', 'PAB'),
  ('f235d5b3-6320-58be-8f1d-9879866bdf4d', 'PEN'),
  ('97f8da56-ffb9-5545-bc43-9fb821c6904e', 'PGK'),
  ('6c8c8b7e-99ae-53e2-af2c-4c7f47309abe', 'PHP'),
  ('f5e27875-8c7c-504b-8c3f-efa973d3220a', 'PKR'),
  ('472a0087-23f8-5bb9-991a-f5fb527abf07', 'PYG'),
  ('d0c161b4-0939-52d6-8d46-c49aaad04b38', 'QAR'),
  ('c4d82b11-d833-5942-b75b-7c15330b1903', 'RON'),
  ('18b5b04c-0851-5a3d-afb0-3722bd8f0e24', 'RSD'),
  ('1dd02f9f-8842-54e1-b045-efa8dc05d4e8', 'RUB'),
  ('16b61ed5-a9d6-559b-b497-9fe03de3414e', 'RWF'),
  ('fa3c50c1-e605-54f7-8e7d-3de843aad898', 'SAR'),
  ('5c29f2b5-3dc3-5fc6-832a-186c6c756d0b', 'SBD'),
  ('2e741319-a7aa-5708-a319-d7262c1c2289', 'SCR'),
  ('82463e4b-74f6-5bfd-9ff1-f171937e5c08', 'SDG'),
  ('237f07f3-8392-5b6a-b963-e73bdd2e5928', 'SHP'),
  ('07aa96c4-d355-5528-95d7-137cab325937', 'SLE'),
  ('d7b5ea32-e7f0-5a14-8f68-aafaf5c4913c', 'SOS'),
  ('f5a814e0-e2e2-5467-93b5-77ca30e7d00e', 'SRD'),
  ('1e77c8b2-9b45-5022-a1de-cdfcde6ee47e', 'SSP'),
  ('7bbbb16e-ded6-5565-be67-6593df83a228', 'STN'),
  ('f8052e35-5a6f-5a7b-93bb-a537309057c1', 'SVC'),
  ('a9bd074f-e8f9-52c8-8379-08af2611071c', 'SYP'),
  ('761271a3-0a2e-5f00-b4ef-7e95779b0a90', 'SZL'),
  ('375ff395-8b8c-58bc-8550-c7f9b9cddcb2', 'THB'),
  ('16ce5bc2-8633-5cfb-ba7e-e8918532b4ac', 'TJS'),
  ('9fd82048-da57-5549-98cc-50808468c532', 'TMT'),
  ('415b9c50-891e-565b-a15c-fc2672eaacdf', 'TND'),
  ('17345260-4455-5a1b-889e-3624041387f8', 'TOP'),
  ('e5aca910-fa91-5b50-86e9-6a8aba945bd4', 'TTD'),
  ('a8b23d48-f5df-5532-966f-70afdc69fcdd', 'TWD'),
  ('ee263ad0-176b-5006-82f9-e494acb87a88', 'TZS'),
  ('ecd6566f-40fd-510f-b4ca-7a7fb1f34869', 'UAH'),
  ('169dd03c-a942-5b6f-a3c8-e2e1d2b51242', 'UGX'),
  ('f9df7f65-8ff8-5daf-a5d4-9b55bf8d47e8', 'USN'),
  ('e75502df-8e3d-5b50-b68d-c81f3a4dffa2', 'UYI'),
  ('d2e1d5b1-d104-5345-90b9-98ebd3d7a5ae', 'UYU'),
  ('93674c8f-6b36-5cb5-be3c-f4737c9ffd18', 'UYW'),
  ('a02664ce-6799-5a5c-b4df-7254765407e6', 'UZS'),
  ('97e187f7-8f12-5ead-aa5f-d949cce1f13f', 'VED'),
  ('5da84c17-f2f7-5a90-9e7b-b7d84637f1a7', 'VES'),
  ('e50e934d-4eb2-5725-9a52-a03fd18c0aa0', 'VND'),
  ('536cc1a2-6bbc-500b-9fb5-6d3c70b06334', 'VUV'),
  ('f9639856-f69b-5613-82d5-d9487acdf209', 'WST'),
  ('d0fc77c1-2381-5812-bdfc-f1446833c53b', 'XAD'),
  ('33d3515d-865a-5b6b-b5a4-7d68e8dd27c5', 'XAF'),
  ('1ebcba7d-3ef5-5c52-9f42-4ae87c0655e7', 'XCD'),
  ('c5e64841-f965-5ea0-9af4-370266fa643b', 'XCG'),
  ('01396472-6c25-5130-b82b-02c7ba5df9e5', 'XOF'),
  ('63537916-c870-54f8-a86f-e206e8ac2038', 'XPF'),
  ('3a58d9de-2b25-5992-8a39-08368094c267', 'YER'),
  ('3b5885cf-25d8-5faa-854d-5b0a3a315bb7', 'ZMW'),
  ('cc0c62da-f160-5bb3-9ce9-7751723bd906', 'ZWG');

CREATE OR REPLACE VIEW analysts.invoices AS
SELECT i.id::text AS invoice_id, i.customer_id::text AS customer_id, i.contract_id::text AS contract_id,
  i.status AS invoice_status, i.type,
  CASE WHEN i.type = 'USAGE' THEN analysts.millis(i.period_start) END AS start_timestamp,
  CASE WHEN i.type = 'USAGE' THEN analysts.millis(i.period_end) END AS end_timestamp,
  analysts.millis(i.issued_at) AS issued_at, n.number AS invoice_number,
  i.credit_type_id::text AS credit_type_id, c.name AS credit_type, analysts.exact(i.total) AS total,
  d.billing_provider, d.external_id AS external_invoice_id, d.status AS external_status,
  analysts.millis(d.finalized_at) AS external_issued_at, analysts.millis(d.paid_at) AS external_paid_at,
  d.payment_id AS external_payment_id, d.pdf_url AS external_pdf_url,
  analysts.exact(d.sub_total) AS invoiced_sub_total, analysts.exact(d.total) AS invoiced_total,
  analysts.exact(d.tax_amount) AS invoiced_tax, analysts.exact(d.taxable_amount) AS invoiced_taxable,
  d.tax_transaction_id, d.error AS billing_provider_error, i.status,
  analysts.millis(date_trunc('month', CASE WHEN i.type = 'SCHEDULED' THEN i.issued_at
    ELSE i.period_end - interval '1 millisecond' END, 'UTC')) AS period_month,
  analysts.millis(i.issued_at) + i.net_payment_terms_days * 86400000::bigint AS due_at,
  analysts.millis(d.paid_at) AS paid_at
FROM public.invoices i
LEFT JOIN public.invoice_numbers n ON n.invoice_id = i.id
LEFT JOIN public.invoice_deliveries d ON d.invoice_id = i.id
LEFT JOIN analysts.credit_types c ON c.credit_type_id = i.credit_type_id::text
WHERE i.type <> 'USAGE_CONSOLIDATED';

CREATE OR REPLACE VIEW analysts.invoice_lines AS
SELECT i.id::text AS invoice_id, i.customer_id::text AS customer_id, i.contract_id::text AS contract_id,
  i.status AS invoice_status, analysts.millis(i.issued_at) AS issued_at, l.position,
  CASE
    WHEN l.type IN ('applied', 'applied_conversion', 'applied_subscription') THEN 'applied_commit_or_credit'
    WHEN l.type = 'minimum' THEN 'usage'
    WHEN l.type = 'true_up' THEN 'commit_purchase'
    WHEN l.type IN ('discount', 'professional_service') THEN 'scheduled'
    ELSE l.type
  END AS type,
  CASE WHEN l.type = 'minimum' THEN l.name || ' (minimum)' ELSE l.name END AS name,
  l.product_id::text AS product_id,
  CASE WHEN l.type NOT LIKE 'applied%' THEN analysts.exact(l.quantity) END AS quantity,
  CASE WHEN l.type NOT LIKE 'applied%' THEN analysts.exact(l.unit_price) END AS unit_price,
  analysts.exact(l.total) AS total, l.credit_type_id::text AS credit_type_id,
  analysts.millis(l.starting_at) AS starting_at, analysts.millis(l.ending_before) AS ending_before,
  CASE WHEN l.type IN ('commit_purchase', 'true_up') THEN l.source_id ELSE l.payer_commit_id END::text AS commit_id,
  l.pricing_group_values::text AS pricing_group_values,
  l.presentation_group_values::text AS presentation_group_values,
  l.credit_type_id = i.credit_type_id
    AND NOT (l.type LIKE 'applied%' AND coalesce(l.payer_type = 'POSTPAID', false)) AS counts_in_total, i.status
FROM public.invoice_line_items l
JOIN public.invoices i ON i.id = l.invoice_id
WHERE i.type <> 'USAGE_CONSOLIDATED';

-- Whose the frozen hours in ClickHouse are.
CREATE OR REPLACE VIEW analysts.frozen_lines AS
SELECT i.breakdown_id::text AS breakdown_id, l.position, i.id::text AS invoice_id,
  i.customer_id::text AS customer_id, l.type LIKE 'applied%' AS is_applied
FROM public.invoice_line_items l
JOIN public.invoices i ON i.id = l.invoice_id
WHERE i.breakdown_id IS NOT NULL;

INSERT INTO public.balance_publication (id) VALUES (1) ON CONFLICT DO NOTHING;

-- Nothing until all balances were published once.
CREATE OR REPLACE VIEW analysts.balances AS
SELECT b.commit_id::text AS commit_id, b.customer_id::text AS customer_id, b.contract_id::text AS contract_id, b.type,
  b.credit_type_id::text AS credit_type_id, analysts.exact(b.balance) AS balance, analysts.millis(p.as_of) AS as_of
FROM public.published_balances b
JOIN public.balance_publication p ON p.as_of IS NOT NULL;

-- An active hold whose time is over has expired, by the clock of PostgreSQL.
CREATE OR REPLACE VIEW analysts.holds AS
SELECT id::text AS hold_id, customer_id::text AS customer_id, transaction_id,
  CASE WHEN status = 'active' AND expires_at <= now() THEN 'expired' ELSE status END AS status, event_type,
  analysts.millis("timestamp") AS "timestamp", analysts.exact(amount) AS amount,
  credit_type_id::text AS credit_type_id, analysts.exact(settled_amount) AS settled_amount,
  analysts.millis(created_at) AS created_at, analysts.millis(expires_at) AS expires_at,
  analysts.millis(ended_at) AS ended_at
FROM public.holds;

-- The same for clients that connect to PostgreSQL itself: times are timestamps and numbers are numerics.
CREATE SCHEMA IF NOT EXISTS analysts_postgres;

CREATE OR REPLACE FUNCTION analysts.instant(millis bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT to_timestamp(millis / 1000.0)';

CREATE OR REPLACE VIEW analysts_postgres.customers AS
SELECT customer_id, name, analysts.instant(created_at) AS created_at, analysts.instant(archived_at) AS archived_at,
  country
FROM analysts.customers;

CREATE OR REPLACE VIEW analysts_postgres.contracts AS
SELECT contract_id, customer_id, name, rate_card_id, analysts.instant(starting_at) AS starting_at,
  analysts.instant(ending_before) AS ending_before, analysts.instant(archived_at) AS archived_at
FROM analysts.contracts;

CREATE OR REPLACE VIEW analysts_postgres.invoices AS
SELECT invoice_id, customer_id, contract_id, status, invoice_status, type,
  analysts.instant(start_timestamp) AS start_timestamp, analysts.instant(end_timestamp) AS end_timestamp,
  analysts.instant(issued_at) AS issued_at, invoice_number, credit_type_id, credit_type, total::numeric AS total,
  billing_provider, external_invoice_id, external_status, analysts.instant(external_issued_at) AS external_issued_at,
  analysts.instant(external_paid_at) AS external_paid_at, external_payment_id, external_pdf_url,
  invoiced_sub_total::numeric AS invoiced_sub_total, invoiced_total::numeric AS invoiced_total,
  invoiced_tax::numeric AS invoiced_tax, invoiced_taxable::numeric AS invoiced_taxable, tax_transaction_id,
  billing_provider_error, analysts.instant(period_month) AS period_month, analysts.instant(due_at) AS due_at,
  analysts.instant(paid_at) AS paid_at
FROM analysts.invoices;

CREATE OR REPLACE VIEW analysts_postgres.invoice_lines AS
SELECT invoice_id, customer_id, contract_id, status, invoice_status, analysts.instant(issued_at) AS issued_at, position,
  type, name, product_id, quantity::numeric AS quantity, unit_price::numeric AS unit_price, total::numeric AS total,
  credit_type_id, analysts.instant(starting_at) AS starting_at, analysts.instant(ending_before) AS ending_before,
  commit_id, pricing_group_values::jsonb AS pricing_group_values,
  presentation_group_values::jsonb AS presentation_group_values, counts_in_total
FROM analysts.invoice_lines;

CREATE OR REPLACE VIEW analysts_postgres.balances AS
SELECT commit_id, customer_id, contract_id, type, credit_type_id, balance::numeric AS balance,
  analysts.instant(as_of) AS as_of
FROM analysts.balances;

CREATE OR REPLACE VIEW analysts_postgres.holds AS
SELECT hold_id, customer_id, transaction_id, status, event_type, analysts.instant("timestamp") AS "timestamp",
  amount::numeric AS amount, credit_type_id, settled_amount::numeric AS settled_amount,
  analysts.instant(created_at) AS created_at, analysts.instant(expires_at) AS expires_at,
  analysts.instant(ended_at) AS ended_at
FROM analysts.holds;
