CREATE TABLE "manual_balance_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "manual_balance_entries_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"commit_id" uuid NOT NULL,
	"segment_id" uuid NOT NULL,
	"amount" numeric NOT NULL,
	"reason" text NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "manual_balance_entries" ADD CONSTRAINT "manual_balance_entries_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "manual_balance_entries_commit" ON "manual_balance_entries" USING btree ("commit_id","sequence");--> statement-breakpoint
CREATE INDEX "commits_invoice_contract" ON "commits" USING btree ("invoice_contract_id","sequence");