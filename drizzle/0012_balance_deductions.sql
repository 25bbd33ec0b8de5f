CREATE TABLE "balance_deductions" (
	"invoice_id" uuid NOT NULL,
	"commit_id" uuid NOT NULL,
	"segment_id" uuid NOT NULL,
	"amount" numeric NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"credited_at" timestamp(3) with time zone,
	CONSTRAINT "balance_deductions_invoice_id_segment_id_pk" PRIMARY KEY("invoice_id","segment_id"),
	CONSTRAINT "balance_deductions_positive" CHECK ("balance_deductions"."amount" > 0)
);
--> statement-breakpoint
ALTER TABLE "invoice_line_items" DROP CONSTRAINT "invoice_line_items_conversion_has_no_product";--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "payer_commit_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "payer_segment_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD COLUMN "payer_type" text;--> statement-breakpoint
ALTER TABLE "balance_deductions" ADD CONSTRAINT "balance_deductions_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "balance_deductions" ADD CONSTRAINT "balance_deductions_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "balance_deductions_commit" ON "balance_deductions" USING btree ("commit_id");--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD CONSTRAINT "invoice_line_items_payer" CHECK (num_nonnulls("invoice_line_items"."payer_commit_id", "invoice_line_items"."payer_segment_id", "invoice_line_items"."payer_type") in (0, 3)
        and ("invoice_line_items"."type" not in ('applied', 'applied_conversion') or "invoice_line_items"."payer_type" is not null));--> statement-breakpoint
ALTER TABLE "invoice_line_items" ADD CONSTRAINT "invoice_line_items_conversion_has_no_product" CHECK (("invoice_line_items"."type" in ('cpu_conversion', 'applied_conversion')) = ("invoice_line_items"."product_id" is null)
        and ("invoice_line_items"."product_id" is null) = ("invoice_line_items"."product_type" is null)
        and ("invoice_line_items"."product_id" is null) = ("invoice_line_items"."converted_credit_type_id" is not null));