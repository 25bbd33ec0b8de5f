ALTER TABLE "jobs" ADD COLUMN "subject" text;--> statement-breakpoint
UPDATE "jobs" SET "subject" = "payload"->>'contract_id';--> statement-breakpoint
CREATE INDEX "jobs_subject_run_at" ON "jobs" USING btree ("subject","run_at") WHERE "jobs"."subject" is not null;--> statement-breakpoint
CREATE INDEX "jobs_failed" ON "jobs" USING btree ("subject","run_at") WHERE "jobs"."attempts" > 0;