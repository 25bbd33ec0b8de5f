CREATE TABLE "recurring_unit_prices" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recurring_unit_prices_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"recurring_commit_id" uuid NOT NULL,
	"unit_price" numeric NOT NULL,
	"until" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "recurring_unit_prices" ADD CONSTRAINT "recurring_unit_prices_recurring_commit_id_recurring_commits_id_fk" FOREIGN KEY ("recurring_commit_id") REFERENCES "public"."recurring_commits"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "recurring_unit_prices_of_term" ON "recurring_unit_prices" USING btree ("recurring_commit_id");