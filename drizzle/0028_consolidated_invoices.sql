CREATE TABLE "invoice_constituents" (
	"invoice_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"constituent_id" uuid NOT NULL,
	CONSTRAINT "invoice_constituents_invoice_id_position_pk" PRIMARY KEY("invoice_id","position")
);
--> statement-breakpoint
ALTER TABLE "invoice_constituents" ADD CONSTRAINT "invoice_constituents_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_constituents" ADD CONSTRAINT "invoice_constituents_constituent_id_invoices_id_fk" FOREIGN KEY ("constituent_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_constituents_once" ON "invoice_constituents" USING btree ("constituent_id","invoice_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_consolidated_once" ON "invoices" USING btree ("contract_id","period_start") WHERE "invoices"."status" <> 'VOID' and "invoices"."type" = 'USAGE_CONSOLIDATED';