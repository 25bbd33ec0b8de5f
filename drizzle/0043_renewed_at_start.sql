ALTER TABLE "access_segments" DROP CONSTRAINT "access_segments_end_after_start";--> statement-breakpoint
ALTER TABLE "contracts" DROP CONSTRAINT "contracts_end_after_start";--> statement-breakpoint
ALTER TABLE "access_segments" ADD CONSTRAINT "access_segments_end_not_before_start" CHECK ("access_segments"."ending_before" >= "access_segments"."starting_at");--> statement-breakpoint
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_end_not_before_start" CHECK ("contracts"."ending_before" is null or "contracts"."ending_before" >= "contracts"."starting_at");