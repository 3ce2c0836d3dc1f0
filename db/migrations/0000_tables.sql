CREATE TABLE `counts_by_fault` (
	`fault` text PRIMARY KEY NOT NULL,
	`n` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `counts_by_label` (
	`key` text NOT NULL,
	`value` text NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`key`, `value`)
);
--> statement-breakpoint
CREATE TABLE `counts_by_state` (
	`state` text PRIMARY KEY NOT NULL,
	`n` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `counts_by_tenant` (
	`tenant` text NOT NULL,
	`state` text NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`tenant`, `state`)
);
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`time_ms` integer NOT NULL,
	`instance` text,
	`tenant` text,
	`type` text NOT NULL,
	`from` text,
	`to` text,
	`trigger` text NOT NULL,
	`actor` text NOT NULL,
	`via` text NOT NULL,
	`source` text,
	`took_ms` real,
	`reason` text,
	`error` text,
	`request_id` text
);
--> statement-breakpoint
CREATE INDEX `events_by_time` ON `events` (`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_instance` ON `events` (`instance`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_tenant` ON `events` (`tenant`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_type` ON `events` (`type`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_actor` ON `events` (`actor`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_trigger` ON `events` (`trigger`,`time_ms`);--> statement-breakpoint
CREATE TABLE `instances` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`state` text NOT NULL,
	`vfs_path` text,
	`updated` integer NOT NULL,
	`tombstone` integer DEFAULT 0 NOT NULL,
	`words` text DEFAULT '' NOT NULL,
	`due_at` integer,
	`name` text,
	`generation` integer DEFAULT 0 NOT NULL,
	`fault` text,
	`fault_reason` text,
	`pending` text,
	`created` integer NOT NULL,
	`state_since` integer NOT NULL,
	`keep_hot` integer DEFAULT 0 NOT NULL,
	`hold_until` integer,
	`ephemeral` integer DEFAULT 0 NOT NULL,
	`policy` text NOT NULL,
	`idle_to_suspend_s` integer,
	`idle_to_freeze_s` integer,
	`bytes` integer,
	`workbook` text,
	`lineage_blueprint` text,
	`lineage_snapshot` text,
	`lineage_parent` text,
	`file` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`labels` text DEFAULT '{}' NOT NULL,
	`name_key` text GENERATED ALWAYS AS (coalesce(name, x'')) VIRTUAL,
	`bytes_key` integer GENERATED ALWAYS AS (coalesce(bytes, -1)) VIRTUAL
);
--> statement-breakpoint
CREATE INDEX `instances_by_updated` ON `instances` (`tombstone`,`updated`);--> statement-breakpoint
CREATE INDEX `instances_by_created` ON `instances` (`tombstone`,`created`);--> statement-breakpoint
CREATE INDEX `instances_by_name` ON `instances` (`tombstone`,`name_key`);--> statement-breakpoint
CREATE INDEX `instances_by_bytes` ON `instances` (`tombstone`,`bytes_key`);--> statement-breakpoint
CREATE INDEX `instances_by_tenant_updated` ON `instances` (`tenant`,`tombstone`,`updated`);--> statement-breakpoint
CREATE INDEX `instances_by_tenant_created` ON `instances` (`tenant`,`tombstone`,`created`);--> statement-breakpoint
CREATE INDEX `instances_by_tenant_name` ON `instances` (`tenant`,`tombstone`,`name_key`);--> statement-breakpoint
CREATE INDEX `instances_by_tenant_bytes` ON `instances` (`tenant`,`tombstone`,`bytes_key`);--> statement-breakpoint
CREATE INDEX `instances_by_state_updated` ON `instances` (`state`,`updated`);--> statement-breakpoint
CREATE INDEX `instances_by_tenant_state_updated` ON `instances` (`tenant`,`state`,`updated`);--> statement-breakpoint
CREATE INDEX `instances_by_fault_updated` ON `instances` (`fault`,`updated`) WHERE fault is not null and tombstone = 0;--> statement-breakpoint
CREATE INDEX `instances_by_fault_created` ON `instances` (`fault`,`created`) WHERE fault is not null and tombstone = 0;--> statement-breakpoint
CREATE INDEX `instances_by_fault_name` ON `instances` (`fault`,`name_key`) WHERE fault is not null and tombstone = 0;--> statement-breakpoint
CREATE INDEX `instances_by_fault_bytes` ON `instances` (`fault`,`bytes_key`) WHERE fault is not null and tombstone = 0;--> statement-breakpoint
CREATE UNIQUE INDEX `instances_name_taken` ON `instances` (`tenant`,`name`) WHERE name is not null and tombstone = 0;--> statement-breakpoint
CREATE INDEX `instances_due` ON `instances` (`due_at`) WHERE due_at is not null and pending is null;--> statement-breakpoint
CREATE INDEX `instances_pending` ON `instances` (`id`) WHERE pending is not null;--> statement-breakpoint
CREATE TABLE `labels` (
	`instance_row` integer NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`updated` integer NOT NULL,
	`created` integer NOT NULL,
	`name_key` blob NOT NULL,
	`bytes_key` integer NOT NULL,
	PRIMARY KEY(`instance_row`, `key`)
);
--> statement-breakpoint
CREATE INDEX `labels_by_updated` ON `labels` (`key`,`value`,`updated`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_created` ON `labels` (`key`,`value`,`created`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_name` ON `labels` (`key`,`value`,`name_key`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_bytes` ON `labels` (`key`,`value`,`bytes_key`,`instance_row`);--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`tenant` text PRIMARY KEY NOT NULL,
	`idle_to_suspend_s` integer,
	`idle_to_freeze_s` integer
);
--> statement-breakpoint
CREATE TABLE `account` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`user_id` text NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` integer,
	`refresh_token_expires_at` integer,
	`scope` text,
	`password` text,
	`created_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `user`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `account_userId_idx` ON `account` (`user_id`);--> statement-breakpoint
CREATE TABLE `session` (
	`id` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL,
	`token` text NOT NULL,
	`created_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL,
	`updated_at` integer NOT NULL,
	`ip_address` text,
	`user_agent` text,
	`user_id` text NOT NULL,
	`impersonated_by` text,
	FOREIGN KEY (`user_id`) REFERENCES `user`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `session_token_unique` ON `session` (`token`);--> statement-breakpoint
CREATE INDEX `session_userId_idx` ON `session` (`user_id`);--> statement-breakpoint
CREATE TABLE `user` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`image` text,
	`created_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL,
	`updated_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL,
	`role` text,
	`banned` integer DEFAULT false,
	`ban_reason` text,
	`ban_expires` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_email_unique` ON `user` (`email`);--> statement-breakpoint
CREATE TABLE `verification` (
	`id` text PRIMARY KEY NOT NULL,
	`identifier` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL,
	`updated_at` integer DEFAULT (cast(unixepoch('subsecond') * 1000 as integer)) NOT NULL
);
--> statement-breakpoint
CREATE INDEX `verification_identifier_idx` ON `verification` (`identifier`);