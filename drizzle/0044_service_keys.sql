CREATE TABLE "service_keys" (
	"purpose" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
