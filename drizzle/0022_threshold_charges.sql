CREATE TABLE "customer_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "customer_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"customer_id" uuid NOT NULL,
	"changed_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "threshold_charges" (
	"commit_id" uuid PRIMARY KEY NOT NULL,
	"contract_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"discounted_amount" numeric NOT NULL,
	"is_in_flight" boolean NOT NULL
);--> statement-breakpoint
ALTER TABLE "threshold_charges" ADD CONSTRAINT "threshold_charges_commit_id_commits_id_fk" FOREIGN KEY ("commit_id") REFERENCES "public"."commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "threshold_charges" ADD CONSTRAINT "threshold_charges_contract_id_contracts_id_fk" FOREIGN KEY ("contract_id") REFERENCES "public"."contracts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "customer_changes_changed_at" ON "customer_changes" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "threshold_charges_contract" ON "threshold_charges" USING btree ("contract_id");--> statement-breakpoint
CREATE UNIQUE INDEX "threshold_charges_one_in_flight" ON "threshold_charges" USING btree ("contract_id") WHERE "threshold_charges"."is_in_flight";
