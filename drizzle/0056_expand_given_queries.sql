CREATE TABLE "given_queries" (
	"name" text PRIMARY KEY NOT NULL,
	"given_at" timestamp(3) with time zone NOT NULL
);
