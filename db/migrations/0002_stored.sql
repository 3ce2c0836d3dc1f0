CREATE TABLE `store_names` (
	`name` text PRIMARY KEY NOT NULL,
	`instance` text,
	`tenant` text NOT NULL,
	`kind` text NOT NULL,
	`host` text NOT NULL,
	`state` text NOT NULL,
	`begun_ms` integer NOT NULL,
	`superseded_ms` integer
);
--> statement-breakpoint
CREATE INDEX `store_names_by_instance` ON `store_names` (`instance`) WHERE instance is not null;--> statement-breakpoint
CREATE INDEX `store_names_by_tenant` ON `store_names` (`tenant`,`name`);--> statement-breakpoint
CREATE INDEX `store_names_begun` ON `store_names` (`host`) WHERE state = 'uploading';--> statement-breakpoint
CREATE INDEX `store_names_superseded` ON `store_names` (`superseded_ms`) WHERE superseded_ms is not null;--> statement-breakpoint
ALTER TABLE `instances` ADD `stored` text;--> statement-breakpoint
CREATE INDEX `instances_upload_due` ON `instances` (`tenant`,`id`,`state_since`) WHERE vfs_path glob 'cold/*' or vfs_path glob 'archive/*';--> statement-breakpoint
CREATE INDEX `instances_in_store` ON `instances` (`id`) WHERE vfs_path glob 'cloud:*';