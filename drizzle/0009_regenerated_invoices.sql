ALTER TABLE "invoices" ADD COLUMN "regenerated_from_invoice_id" uuid;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_regenerated_from_invoice_id_invoices_id_fk" FOREIGN KEY ("regenerated_from_invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invoices_issued_with_warnings" ON "invoices" USING btree ("issued_at","id") WHERE "invoices"."warning_count" > 0;--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_regenerated_once" ON "invoices" USING btree ("regenerated_from_invoice_id");