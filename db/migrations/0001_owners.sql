CREATE TABLE `claims` (
	`kind` text NOT NULL,
	`work` text NOT NULL,
	`host` text NOT NULL,
	`term` integer NOT NULL,
	`token` text NOT NULL,
	`acquired_ms` integer NOT NULL,
	`expires_ms` integer NOT NULL,
	`renewals` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`kind`, `work`)
);
--> statement-breakpoint
CREATE INDEX `claims_by_host` ON `claims` (`host`,`kind`);--> statement-breakpoint
CREATE INDEX `claims_by_expiry` ON `claims` (`expires_ms`);--> statement-breakpoint
CREATE TABLE `hosts` (
	`name` text PRIMARY KEY NOT NULL,
	`term` integer NOT NULL,
	`since_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `writes` (
	`id` text PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `writes_by_time` ON `writes` (`at_ms`);--> statement-breakpoint
ALTER TABLE `instances` ADD `owner_host` text;--> statement-breakpoint
ALTER TABLE `instances` ADD `owner_term` integer;--> statement-breakpoint
ALTER TABLE `instances` ADD `owner_token` text;--> statement-breakpoint
ALTER TABLE `instances` ADD `write_id` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `owner_host` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `owner_token` text;--> statement-breakpoint
ALTER TABLE `schedule_runs` ADD `owner_host` text;--> statement-breakpoint
ALTER TABLE `schedule_runs` ADD `owner_token` text;