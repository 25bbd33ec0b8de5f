CREATE TABLE "failed_sign_ins" (
	"id" uuid PRIMARY KEY NOT NULL,
	"ip" text NOT NULL,
	"at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"credential_id" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"last_used_at" timestamp(3) with time zone,
	CONSTRAINT "passkeys_credential_unique" UNIQUE("credential_id")
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text,
	"issuer" text,
	"subject" text,
	"roles" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"disabled_at" timestamp(3) with time zone,
	"erased_at" timestamp(3) with time zone,
	"last_seen_at" timestamp(3) with time zone,
	CONSTRAINT "people_identity_unique" UNIQUE("issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "person_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"sha256" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"used_at" timestamp(3) with time zone,
	CONSTRAINT "person_links_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
CREATE TABLE "person_sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"sha256" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"last_seen_at" timestamp(3) with time zone NOT NULL,
	"ip" text,
	"user_agent" text,
	"provider_session" text,
	"refresh_token" text,
	"refreshed_at" timestamp(3) with time zone,
	CONSTRAINT "person_sessions_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"name" text PRIMARY KEY NOT NULL,
	"permissions" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"archived_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"sha256" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"person_id" uuid,
	"secrets" text NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "actor_email" text;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "actor_role" text;--> statement-breakpoint
ALTER TABLE "console_sessions" ADD COLUMN "last_seen_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "console_sessions" ADD COLUMN "ip" text;--> statement-breakpoint
ALTER TABLE "console_sessions" ADD COLUMN "user_agent" text;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "permissions" text[];--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_links" ADD CONSTRAINT "person_links_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_sessions" ADD CONSTRAINT "person_sessions_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD CONSTRAINT "sign_in_attempts_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "failed_sign_ins_ip" ON "failed_sign_ins" USING btree ("ip","at");--> statement-breakpoint
CREATE INDEX "failed_sign_ins_at" ON "failed_sign_ins" USING btree ("at");--> statement-breakpoint
CREATE INDEX "passkeys_person_id" ON "passkeys" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "people_created_at" ON "people" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "people_email" ON "people" USING btree ("email");--> statement-breakpoint
CREATE INDEX "person_links_person_id" ON "person_links" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "person_sessions_person_id" ON "person_sessions" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "person_sessions_expires_at" ON "person_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "person_sessions_provider" ON "person_sessions" USING btree ("provider_session");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_expires_at" ON "sign_in_attempts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor_id","recorded_at","id");