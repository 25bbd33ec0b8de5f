CREATE TABLE "invoice_numbers" (
	"invoice_id" uuid PRIMARY KEY NOT NULL,
	"year" integer NOT NULL,
	"position" integer NOT NULL,
	"number" text NOT NULL,
	CONSTRAINT "invoice_numbers_position" UNIQUE("year","position"),
	CONSTRAINT "invoice_numbers_number" UNIQUE("number")
);
--> statement-breakpoint
ALTER TABLE "invoice_numbers" ADD CONSTRAINT "invoice_numbers_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoices_issued" ON "invoices" USING btree ("issued_at","id");--> statement-breakpoint
INSERT INTO "jobs" ("kind", "key", "run_at", "payload") SELECT 'number_invoices', 'issued before numbers', min("issued_at"), jsonb_build_object('issued_from', (extract(epoch from min("issued_at")) * 1000)::bigint) FROM "invoices" HAVING count(*) > 0;
