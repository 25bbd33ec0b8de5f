CREATE TABLE "balance_publication" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"as_of" timestamp(3) with time zone,
	"pass_as_of" timestamp(3) with time zone,
	"after_customer_id" uuid,
	"after_commit_id" uuid,
	"pass_begun_at" timestamp(3) with time zone,
	CONSTRAINT "balance_publication_one_row" CHECK ("balance_publication"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "published_balances" (
	"customer_id" uuid NOT NULL,
	"commit_id" uuid NOT NULL,
	"contract_id" uuid,
	"type" text NOT NULL,
	"credit_type_id" uuid NOT NULL,
	"balance" numeric NOT NULL,
	CONSTRAINT "published_balances_customer_id_commit_id_pk" PRIMARY KEY("customer_id","commit_id")
);
