CREATE TABLE "credit_note_lines" (
	"credit_note_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"line_item_id" uuid NOT NULL,
	"product_id" uuid,
	"name" text NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone NOT NULL,
	"amount" numeric NOT NULL,
	"quantity" numeric,
	"paid_by" text NOT NULL,
	"payer_commit_id" uuid,
	"payer_segment_id" uuid,
	"payer_type" text,
	"given_back" numeric NOT NULL,
	CONSTRAINT "credit_note_lines_credit_note_id_position_pk" PRIMARY KEY("credit_note_id","position"),
	CONSTRAINT "credit_note_lines_positive" CHECK ("credit_note_lines"."amount" > 0 and "credit_note_lines"."given_back" >= 0)
);
--> statement-breakpoint
CREATE TABLE "credit_notes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"invoice_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"contract_id" uuid NOT NULL,
	"year" integer NOT NULL,
	"position" integer NOT NULL,
	"number" text NOT NULL,
	"status" text DEFAULT 'ISSUED' NOT NULL,
	"reason" text NOT NULL,
	"memo" text,
	"settlement" text,
	"issued_at" timestamp(3) with time zone NOT NULL,
	"deliver_after" timestamp(3) with time zone NOT NULL,
	"voided_at" timestamp(3) with time zone,
	"credit_type_id" uuid NOT NULL,
	"sub_total" numeric NOT NULL,
	"tax" numeric NOT NULL,
	"balance_amount" numeric NOT NULL,
	"offset_amount" numeric NOT NULL,
	"refund_amount" numeric NOT NULL,
	"credit_balance_amount" numeric NOT NULL,
	"credit_id" uuid,
	"uniqueness_key" text,
	"created_by" text NOT NULL,
	CONSTRAINT "credit_notes_position" UNIQUE("year","position"),
	CONSTRAINT "credit_notes_number" UNIQUE("number"),
	CONSTRAINT "credit_notes_uniqueness_key" UNIQUE("uniqueness_key"),
	CONSTRAINT "credit_notes_settled" CHECK ("credit_notes"."sub_total" + "credit_notes"."tax" = "credit_notes"."offset_amount" + "credit_notes"."refund_amount" + "credit_notes"."credit_balance_amount")
);
--> statement-breakpoint
ALTER TABLE "manual_balance_entries" ADD COLUMN "credit_note_id" uuid;--> statement-breakpoint
ALTER TABLE "credit_note_lines" ADD CONSTRAINT "credit_note_lines_credit_note_id_credit_notes_id_fk" FOREIGN KEY ("credit_note_id") REFERENCES "public"."credit_notes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_credit_id_commits_id_fk" FOREIGN KEY ("credit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "credit_notes_invoice" ON "credit_notes" USING btree ("invoice_id");--> statement-breakpoint
CREATE INDEX "credit_notes_customer_issued" ON "credit_notes" USING btree ("customer_id","issued_at","id");--> statement-breakpoint
CREATE INDEX "credit_notes_issued" ON "credit_notes" USING btree ("issued_at","id");--> statement-breakpoint
CREATE INDEX "manual_balance_entries_credit_note" ON "manual_balance_entries" USING btree ("credit_note_id") WHERE "manual_balance_entries"."credit_note_id" is not null;