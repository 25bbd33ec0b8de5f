CREATE TABLE "credit_note_deliveries" (
	"credit_note_id" uuid PRIMARY KEY NOT NULL,
	"invoice_id" uuid NOT NULL,
	"status" text DEFAULT 'QUEUED' NOT NULL,
	"attempt_key" uuid,
	"sent_at" timestamp(3) with time zone,
	"external_id" text,
	"number" text,
	"issued_at" timestamp(3) with time zone,
	"pdf_url" text,
	"total" numeric,
	"tax" numeric,
	"pre_payment_amount" numeric,
	"refund_amount" numeric,
	"customer_balance_amount" numeric,
	"out_of_band_amount" numeric,
	"error" text
);
--> statement-breakpoint
ALTER TABLE "credit_note_deliveries" ADD CONSTRAINT "credit_note_deliveries_credit_note_id_credit_notes_id_fk" FOREIGN KEY ("credit_note_id") REFERENCES "public"."credit_notes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_note_deliveries" ADD CONSTRAINT "credit_note_deliveries_invoice_id_invoice_deliveries_invoice_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoice_deliveries"("invoice_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "credit_note_deliveries_invoice" ON "credit_note_deliveries" USING btree ("invoice_id");--> statement-breakpoint
CREATE INDEX "credit_note_deliveries_refused" ON "credit_note_deliveries" USING btree ("credit_note_id") WHERE "credit_note_deliveries"."status" = 'INVALID_REQUEST_ERROR';