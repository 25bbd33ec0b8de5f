ALTER TABLE "invoices" ADD COLUMN "voided_at" timestamp(3) with time zone;
