DROP INDEX `instances_due`;--> statement-breakpoint
CREATE INDEX `instances_due` ON `instances` (`due_at`,`state`,`ephemeral`,`tenant`,`pending`) WHERE due_at is not null and pending is null;
