CREATE TABLE "saved_queries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"sql" text NOT NULL,
	"saved_by" text NOT NULL,
	"saved_at" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "saved_queries_name_unique" UNIQUE("name")
);
