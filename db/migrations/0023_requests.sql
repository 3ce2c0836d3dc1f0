CREATE INDEX `events_by_request` ON `events` (`request_id`,`time_ms`) WHERE request_id is not null;
--> statement-breakpoint
-- Pages of the text index below those of the file: merges of its segments come in smaller pieces.
INSERT INTO instance_text(instance_text, rank) VALUES ('pgsz', 1000);
