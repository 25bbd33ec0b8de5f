CREATE TABLE "named_schedule_segments" (
	"subject" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"name" text NOT NULL,
	"properties" text NOT NULL,
	"starting_at" timestamp(3) with time zone NOT NULL,
	"ending_before" timestamp(3) with time zone,
	"value" text NOT NULL,
	CONSTRAINT "named_schedule_segments_pkey" PRIMARY KEY("subject_id","name","properties","starting_at")
);
