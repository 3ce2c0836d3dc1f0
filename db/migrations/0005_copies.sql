CREATE TABLE `blueprints` (
	`name` text PRIMARY KEY NOT NULL,
	`tenant` text,
	`source` text,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`volumes` text NOT NULL,
	`file` text NOT NULL,
	`created` integer NOT NULL,
	`actor` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `blueprints_by_hash` ON `blueprints` (`hash`);--> statement-breakpoint
CREATE TABLE `snapshots` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`source` text NOT NULL,
	`tag` text,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`volumes` text NOT NULL,
	`file` text NOT NULL,
	`created` integer NOT NULL,
	`actor` text NOT NULL,
	`deleted` integer
);
--> statement-breakpoint
CREATE INDEX `snapshots_by_created` ON `snapshots` (`created`,`id`) WHERE deleted is null;--> statement-breakpoint
CREATE INDEX `snapshots_by_tenant` ON `snapshots` (`tenant`,`created`,`id`) WHERE deleted is null;--> statement-breakpoint
CREATE INDEX `snapshots_by_source` ON `snapshots` (`source`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_by_tag` ON `snapshots` (`tag`,`created`,`id`) WHERE deleted is null and tag is not null;--> statement-breakpoint
CREATE INDEX `snapshots_by_hash` ON `snapshots` (`hash`) WHERE deleted is null;--> statement-breakpoint
CREATE TABLE `unclaimed_files` (
	`path` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE INDEX `instances_by_snapshot` ON `instances` (`lineage_snapshot`,`created`) WHERE lineage_snapshot is not null;--> statement-breakpoint
CREATE INDEX `instances_by_blueprint` ON `instances` (`lineage_blueprint`,`created`) WHERE lineage_blueprint is not null;--> statement-breakpoint
CREATE INDEX `instances_by_source` ON `instances` (`vfs_path`) WHERE state = 'created' and vfs_path is not null;