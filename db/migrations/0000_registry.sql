-- The registry as the thirty migrations up to commit 49ff4dee made it. Migrations after this one are kept: a file with
-- any of them is brought forward, never back.
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
	`bytes` integer DEFAULT 0 NOT NULL,
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
	`request_id` text,
	`address` text,
	`hash` text,
	`blanked` text
);
--> statement-breakpoint
CREATE INDEX `events_by_time` ON `events` (`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_instance` ON `events` (`instance`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_tenant` ON `events` (`tenant`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_type` ON `events` (`type`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_actor` ON `events` (`actor`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_by_trigger` ON `events` (`trigger`,`time_ms`);--> statement-breakpoint
CREATE INDEX `events_blanked` ON `events` (`seq`) WHERE blanked is not null;--> statement-breakpoint
CREATE INDEX `events_by_request` ON `events` (`request_id`,`time_ms`) WHERE request_id is not null;--> statement-breakpoint
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
	`bytes_key` integer GENERATED ALWAYS AS (coalesce(bytes, -1)) VIRTUAL,
	`hot_to_warm_s` integer,
	`workbook_version` integer
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
CREATE INDEX `instances_pending` ON `instances` (`id`) WHERE pending is not null;--> statement-breakpoint
CREATE INDEX `instances_whose` ON `instances` (`id`,`tenant`);--> statement-breakpoint
CREATE INDEX `instances_by_snapshot` ON `instances` (`lineage_snapshot`,`created`) WHERE lineage_snapshot is not null;--> statement-breakpoint
CREATE INDEX `instances_by_blueprint` ON `instances` (`lineage_blueprint`,`created`) WHERE lineage_blueprint is not null;--> statement-breakpoint
CREATE INDEX `instances_by_source` ON `instances` (`vfs_path`) WHERE state = 'created' and vfs_path is not null;--> statement-breakpoint
CREATE INDEX `instances_due` ON `instances` (`due_at`,`state`,`ephemeral`,`tenant`,`pending`) WHERE due_at is not null and pending is null;--> statement-breakpoint
CREATE INDEX `instances_by_workbook` ON `instances` (`tenant`,`workbook`,`workbook_version`) WHERE workbook is not null and tombstone = 0;--> statement-breakpoint
CREATE INDEX `instances_by_tenant_due` ON `instances` (`tenant`,`due_at`,`state`,`ephemeral`,`pending`) WHERE due_at is not null and pending is null;--> statement-breakpoint
CREATE TABLE `labels` (
	`instance_row` integer NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`updated` integer NOT NULL,
	`created` integer NOT NULL,
	`name_key` blob NOT NULL,
	`bytes_key` integer NOT NULL,
	`tenant` text DEFAULT '' NOT NULL,
	`state` text DEFAULT 'created' NOT NULL,
	PRIMARY KEY(`instance_row`, `key`)
);
--> statement-breakpoint
CREATE INDEX `labels_by_created` ON `labels` (`key`,`value`,`created`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_name` ON `labels` (`key`,`value`,`name_key`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_bytes` ON `labels` (`key`,`value`,`bytes_key`,`instance_row`);--> statement-breakpoint
CREATE INDEX `labels_by_updated` ON `labels` (`key`,`value`,`updated`,`instance_row`,`tenant`,`state`);--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`tenant` text PRIMARY KEY NOT NULL,
	`idle_to_suspend_s` integer,
	`idle_to_freeze_s` integer,
	`max_sandboxes` integer,
	`max_active` integer,
	`max_bytes` integer,
	`hot_to_warm_s` integer,
	`max_daily_cpu_s` integer,
	`max_run_s` integer,
	`max_call_s` integer
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
	`ban_expires` integer,
	`tenants` text
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
CREATE INDEX `verification_identifier_idx` ON `verification` (`identifier`);--> statement-breakpoint
CREATE TABLE `ledger_segments` (
	`id` text PRIMARY KEY NOT NULL,
	`first_seq` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`lines` integer NOT NULL,
	`previous_hash` text NOT NULL,
	`first_hash` text NOT NULL,
	`last_hash` text NOT NULL,
	`sealed_ms` integer NOT NULL,
	`issuer` text NOT NULL,
	`signature` text NOT NULL,
	`exported_ms` integer,
	`dropped_ms` integer,
	`drop_signature` text
);
--> statement-breakpoint
CREATE TABLE `shares` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`instance` text NOT NULL,
	`tenant` text NOT NULL,
	`format` text NOT NULL,
	`volumes` text NOT NULL,
	`private_included` integer NOT NULL,
	`issuer` text,
	`members` text NOT NULL,
	`disk_sha256` text NOT NULL,
	`sha256` text NOT NULL,
	`bytes` integer NOT NULL,
	`created` integer NOT NULL,
	`actor` text NOT NULL,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_by_id` ON `shares` (`id`);--> statement-breakpoint
CREATE INDEX `shares_by_tenant` ON `shares` (`tenant`,`seq`);--> statement-breakpoint
CREATE INDEX `shares_by_instance` ON `shares` (`instance`,`seq`);--> statement-breakpoint
CREATE INDEX `shares_by_sha256` ON `shares` (`sha256`);--> statement-breakpoint
CREATE INDEX `shares_by_disk` ON `shares` (`disk_sha256`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`email` text,
	`role` text NOT NULL,
	`tenants` text,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`expires` integer NOT NULL,
	`used` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_hash_unique` ON `invitations` (`hash`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`tenant` text,
	`hash` text NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`expires` integer,
	`last_used` integer,
	`revoked` integer,
	`max_call_s` integer
);
--> statement-breakpoint
CREATE INDEX `keys_by_created` ON `keys` (`created`);--> statement-breakpoint
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
CREATE TABLE `job_pages` (
	`job` integer NOT NULL,
	`page` integer NOT NULL,
	`rows` blob NOT NULL,
	PRIMARY KEY(`job`, `page`)
);
--> statement-breakpoint
CREATE TABLE `job_results` (
	`job` integer NOT NULL,
	`position` integer NOT NULL,
	`outcome` text NOT NULL,
	`reason` text,
	`time_ms` integer NOT NULL,
	PRIMARY KEY(`job`, `position`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `job_results_by_outcome` ON `job_results` (`job`,`outcome`,`position`) WHERE outcome <> 'done';--> statement-breakpoint
CREATE TABLE `jobs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`verb` text NOT NULL,
	`reason` text,
	`labels` text,
	`asked` text NOT NULL,
	`tenants` text,
	`actor` text NOT NULL,
	`via` text NOT NULL,
	`address` text,
	`state` text NOT NULL,
	`created` integer NOT NULL,
	`finished` integer,
	`chosen` integer NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`include_held` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_by_id` ON `jobs` (`id`);--> statement-breakpoint
CREATE INDEX `jobs_running` ON `jobs` (`seq`) WHERE state = 'running';--> statement-breakpoint
CREATE TABLE `wake_times` (
	`day` integer NOT NULL,
	`path` text NOT NULL,
	`source` text NOT NULL,
	`bound_ms` real NOT NULL,
	`n` integer NOT NULL,
	`sum_ms` real NOT NULL,
	PRIMARY KEY(`day`, `path`, `source`, `bound_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `instance_volumes` (
	`instance_row` integer PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`workspace` integer NOT NULL,
	`memory` integer NOT NULL,
	`tmp` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `volumes_by_tenant` (
	`tenant` text PRIMARY KEY NOT NULL,
	`instances` integer NOT NULL,
	`workspace` integer NOT NULL,
	`memory` integer NOT NULL,
	`tmp` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `starts` (
	`first` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`ids` text NOT NULL,
	`origin` text NOT NULL,
	`cause` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `forgettings` (
	`job` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`actor` text NOT NULL,
	`via` text NOT NULL,
	`started` integer NOT NULL,
	`finished` integer,
	`about` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `forgettings_open` ON `forgettings` (`tenant`) WHERE finished is null;--> statement-breakpoint
CREATE INDEX `forgettings_by_tenant` ON `forgettings` (`tenant`,`started`);--> statement-breakpoint
CREATE TABLE `seeding_chunks` (
	`number` integer PRIMARY KEY NOT NULL,
	`first` text NOT NULL,
	`tenant` text NOT NULL,
	`path` text NOT NULL,
	`sandboxes` integer NOT NULL,
	`bytes` integer NOT NULL,
	`rows` text NOT NULL,
	`ledger` text NOT NULL,
	`start` text
);
--> statement-breakpoint
CREATE TABLE `cpu_by_day` (
	`tenant` text NOT NULL,
	`day` integer NOT NULL,
	`seconds` real NOT NULL,
	PRIMARY KEY(`tenant`, `day`)
);
--> statement-breakpoint
CREATE TABLE `schedule_runs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`schedule` text NOT NULL,
	`planned` integer,
	`missed` integer NOT NULL,
	`started_ms` integer NOT NULL,
	`took_ms` real,
	`result` text,
	`error` text,
	`exit_code` integer,
	`woke` text,
	`actor` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `schedule_runs_by_id` ON `schedule_runs` (`id`);--> statement-breakpoint
CREATE INDEX `schedule_runs_of` ON `schedule_runs` (`schedule`,`seq`);--> statement-breakpoint
CREATE TABLE `schedules` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`instance` text NOT NULL,
	`tenant` text NOT NULL,
	`source` text NOT NULL,
	`declaration` text,
	`cron` text,
	`at` integer,
	`repeat` text,
	`timezone` text NOT NULL,
	`target` text NOT NULL,
	`action` text NOT NULL,
	`input` text,
	`missed` text NOT NULL,
	`paused` integer NOT NULL,
	`resting` integer DEFAULT false NOT NULL,
	`next_at` integer,
	`fire_at` integer,
	`backlog_until` integer,
	`run` text,
	`last_at` integer,
	`last_result` text,
	`last_took_ms` real,
	`failures` integer DEFAULT 0 NOT NULL,
	`fault` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`created` integer NOT NULL,
	`actor` text NOT NULL,
	`timeout_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_by_id` ON `schedules` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_by_instance` ON `schedules` (`instance`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_by_declaration` ON `schedules` (`instance`,`declaration`) WHERE declaration is not null;--> statement-breakpoint
CREATE INDEX `schedules_by_tenant` ON `schedules` (`tenant`);--> statement-breakpoint
CREATE INDEX `schedules_to_fire` ON `schedules` (`fire_at`) WHERE fire_at is not null;--> statement-breakpoint
CREATE INDEX `schedules_next` ON `schedules` (`next_at`) WHERE fire_at is not null;--> statement-breakpoint
CREATE INDEX `schedules_running` ON `schedules` (`run`) WHERE run is not null;--> statement-breakpoint
CREATE INDEX `schedules_failing` ON `schedules` (`failures`) WHERE failures > 0;--> statement-breakpoint
CREATE INDEX `schedules_resting` ON `schedules` (`resting`) WHERE resting = 1;--> statement-breakpoint
CREATE TABLE `workbook_versions` (
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`title` text,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`components` integer,
	`problems` integer NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`source` text NOT NULL,
	`plan` text,
	`problem_list` text NOT NULL,
	`builder` integer DEFAULT 0 NOT NULL,
	`schedules` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant`, `id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `workbooks` (
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`title` text,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`components` integer,
	`problems` integer NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`tenant`, `id`)
);
--> statement-breakpoint
CREATE INDEX `workbooks_by_id` ON `workbooks` (`id`,`tenant`);--> statement-breakpoint
CREATE TABLE `schedule_syncs` (
	`instance` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`webhook` text NOT NULL,
	`line` integer,
	`type` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`created_ms` integer NOT NULL,
	`next_ms` integer,
	`attempted_ms` integer,
	`took_ms` real,
	`status` integer,
	`error` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_by_id` ON `webhook_deliveries` (`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_of` ON `webhook_deliveries` (`webhook`,`seq`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook`,`next_ms`) WHERE next_ms is not null;--> statement-breakpoint
CREATE TABLE `webhooks` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`tenant` text,
	`types` text,
	`secret` text NOT NULL,
	`old_secret` text,
	`old_secret_until` integer,
	`enabled` integer NOT NULL,
	`off_reason` text,
	`cursor` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since_ms` integer,
	`last_success_ms` integer,
	`created` integer NOT NULL,
	`created_by` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_by_id` ON `webhooks` (`id`);--> statement-breakpoint
CREATE INDEX `webhooks_by_tenant` ON `webhooks` (`tenant`);--> statement-breakpoint
CREATE TABLE `runs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`instance` text NOT NULL,
	`tenant` text NOT NULL,
	`language` text NOT NULL,
	`command` text NOT NULL,
	`cwd` text NOT NULL,
	`terminal` text,
	`created_ms` integer NOT NULL,
	`started_ms` integer,
	`ended_ms` integer,
	`ending` text,
	`exit_code` integer,
	`took_ms` real,
	`timed_out` integer DEFAULT false NOT NULL,
	`reason` text,
	`woke` text,
	`output_bytes` integer DEFAULT 0 NOT NULL,
	`actor` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_by_id` ON `runs` (`id`);--> statement-breakpoint
CREATE INDEX `runs_by_instance` ON `runs` (`instance`,`seq`);--> statement-breakpoint
CREATE INDEX `runs_under_way` ON `runs` (`instance`) WHERE ended_ms is null;--> statement-breakpoint
CREATE INDEX `runs_under_way_of_tenant` ON `runs` (`tenant`) WHERE ended_ms is null;--> statement-breakpoint
CREATE TABLE `sandbox_hours` (
	`seq` integer PRIMARY KEY NOT NULL,
	`instance_row` integer NOT NULL,
	`hour` integer NOT NULL,
	`cpu_ms` integer NOT NULL,
	`calls` integer NOT NULL,
	`memory_bytes` integer NOT NULL,
	`bytes` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sandbox_hours_of` ON `sandbox_hours` (`instance_row`,`hour`);--> statement-breakpoint
CREATE TABLE `tenant_hours` (
	`seq` integer PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`hour` integer NOT NULL,
	`cpu_ms` integer DEFAULT 0 NOT NULL,
	`calls` integer DEFAULT 0 NOT NULL,
	`memory_bytes` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`wakes` integer DEFAULT 0 NOT NULL,
	`faults` integer DEFAULT 0 NOT NULL,
	`active_change` integer DEFAULT 0 NOT NULL,
	`active_ms` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tenant_hours_of` ON `tenant_hours` (`tenant`,`hour`);--> statement-breakpoint
CREATE TABLE `environments` (
	`kind` text NOT NULL,
	`owner` text NOT NULL,
	`tenant` text,
	`variables` text NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`kind`, `owner`)
);
--> statement-breakpoint
CREATE INDEX `environments_by_tenant` ON `environments` (`tenant`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`tenant` text NOT NULL,
	`instance` text NOT NULL,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`header` text NOT NULL,
	`format` text NOT NULL,
	`sealed` text NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	`last_used` integer,
	PRIMARY KEY(`tenant`, `instance`, `name`)
);
--> statement-breakpoint
CREATE TABLE `network_hours` (
	`seq` integer PRIMARY KEY NOT NULL,
	`instance` text NOT NULL,
	`tenant` text NOT NULL,
	`hour` integer NOT NULL,
	`host` text NOT NULL,
	`calls` integer NOT NULL,
	`refused` integer NOT NULL,
	`bytes_out` integer NOT NULL,
	`bytes_in` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `network_hours_of` ON `network_hours` (`instance`,`hour`,`host`);--> statement-breakpoint
CREATE INDEX `network_hours_by_tenant` ON `network_hours` (`tenant`,`hour`);--> statement-breakpoint
CREATE TABLE `network_rules` (
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`tenant` text NOT NULL,
	`rules` text,
	`requests_per_minute` integer,
	`bytes_per_day` integer,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`kind`, `id`)
);
--> statement-breakpoint
CREATE INDEX `network_rules_by_tenant` ON `network_rules` (`tenant`);--> statement-breakpoint
CREATE TABLE `agents` (
	`tenant` text NOT NULL,
	`name` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`snapshot` text,
	`making` text,
	`replaced` text,
	`description` text,
	`model` text,
	`env` text NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`tenant`, `name`)
);
--> statement-breakpoint
CREATE VIRTUAL TABLE instance_text USING fts5(words, content='', contentless_delete=1, detail='none', tokenize='trigram case_sensitive 1');
--> statement-breakpoint
-- Pages of the text index below those of the file: merges of its segments come in smaller pieces.
INSERT INTO instance_text(instance_text, rank) VALUES ('pgsz', 1000);
--> statement-breakpoint
CREATE TRIGGER instances_state_changed AFTER UPDATE OF state ON instances WHEN old.state IS NOT new.state BEGIN
	UPDATE counts_by_state SET n = n - 1 WHERE state = old.state;
	INSERT INTO counts_by_state(state, n) VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	UPDATE counts_by_tenant SET n = n - 1 WHERE tenant = old.tenant AND state = old.state;
	INSERT INTO counts_by_tenant(tenant, state, n) VALUES (new.tenant, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER instances_fault_changed AFTER UPDATE OF fault, tombstone ON instances
WHEN old.fault IS NOT new.fault OR old.tombstone IS NOT new.tombstone BEGIN
	UPDATE counts_by_fault SET n = n - 1 WHERE fault = old.fault AND old.tombstone = 0;
	INSERT INTO counts_by_fault(fault, n) SELECT new.fault, 1 WHERE new.fault IS NOT NULL AND new.tombstone = 0
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER instances_sized AFTER UPDATE OF bytes ON instances WHEN old.bytes IS NOT new.bytes BEGIN
	UPDATE labels SET bytes_key = new.bytes_key WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_named AFTER UPDATE OF name ON instances WHEN old.name IS NOT new.name BEGIN
	UPDATE labels SET name_key = new.name_key WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_buried AFTER UPDATE OF tombstone ON instances WHEN old.tombstone = 0 AND new.tombstone = 1 BEGIN
	DELETE FROM labels WHERE instance_row = new.rowid;
	DELETE FROM instance_text WHERE rowid = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_stay BEFORE DELETE ON instances BEGIN
	SELECT raise(ABORT, 'a row of instances is never removed: a deleted one stays as a tombstone');
END;
--> statement-breakpoint
CREATE TRIGGER labels_inserted AFTER INSERT ON labels BEGIN
	INSERT INTO counts_by_label(key, value, n) VALUES (new.key, new.value, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER labels_deleted AFTER DELETE ON labels BEGIN
	UPDATE counts_by_label SET n = n - 1 WHERE key = old.key AND value = old.value;
	DELETE FROM counts_by_label WHERE key = old.key AND value = old.value AND n = 0;
END;
--> statement-breakpoint
CREATE TRIGGER events_not_removed BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM ledger_segments WHERE dropped_ms IS NOT NULL AND old.seq BETWEEN first_seq AND last_seq) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER events_only_appended BEFORE INSERT ON events
WHEN new.hash IS NULL OR new.seq IS NOT 1 + coalesce(
	(SELECT max(seq) FROM events), (SELECT max(last_seq) FROM ledger_segments), 0) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_not_changed BEFORE UPDATE ON ledger_segments
WHEN (old.id, old.first_seq, old.last_seq, old.lines, old.previous_hash, old.first_hash, old.last_hash, old.sealed_ms,
		old.issuer, old.signature)
	IS NOT (new.id, new.first_seq, new.last_seq, new.lines, new.previous_hash, new.first_hash, new.last_hash, new.sealed_ms,
		new.issuer, new.signature)
	OR (old.exported_ms IS NOT NULL AND new.exported_ms IS NOT old.exported_ms)
	OR (old.dropped_ms IS NOT NULL AND (new.dropped_ms, new.drop_signature) IS NOT (old.dropped_ms, old.drop_signature))
	OR (new.dropped_ms IS NOT NULL AND (new.exported_ms IS NULL OR new.drop_signature IS NULL)) BEGIN
	SELECT raise(ABORT, 'a sealed segment is never changed');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_not_removed BEFORE DELETE ON ledger_segments BEGIN
	SELECT raise(ABORT, 'a sealed segment is never removed');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_in_order BEFORE INSERT ON ledger_segments
WHEN new.dropped_ms IS NOT NULL OR new.exported_ms IS NOT NULL OR new.lines IS NOT new.last_seq - new.first_seq + 1
	OR new.first_seq IS NOT 1 + coalesce((SELECT max(last_seq) FROM ledger_segments), 0) BEGIN
	SELECT raise(ABORT, 'segments follow one another');
END;
--> statement-breakpoint
CREATE TRIGGER shares_not_changed BEFORE UPDATE ON shares BEGIN
	SELECT RAISE(ABORT, 'shares are append-only');
END;
--> statement-breakpoint
CREATE TRIGGER instances_weighed_first AFTER INSERT ON instances WHEN new.bytes IS NOT NULL BEGIN
	INSERT INTO counts_by_tenant(tenant, state, n, bytes) VALUES (new.tenant, new.state, 0, new.bytes)
		ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER instances_weighed AFTER UPDATE OF state, bytes ON instances
WHEN (old.state IS NOT new.state OR old.bytes IS NOT new.bytes) AND (old.bytes IS NOT NULL OR new.bytes IS NOT NULL) BEGIN
	UPDATE counts_by_tenant SET bytes = bytes - coalesce(old.bytes, 0) WHERE tenant = old.tenant AND state = old.state;
	INSERT INTO counts_by_tenant(tenant, state, n, bytes) VALUES (new.tenant, new.state, 0, coalesce(new.bytes, 0))
		ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER instance_volumes_weighed AFTER INSERT ON instance_volumes BEGIN
	INSERT INTO volumes_by_tenant(tenant, instances, workspace, memory, tmp)
		VALUES (new.tenant, 1, new.workspace, new.memory, new.tmp)
		ON CONFLICT DO UPDATE SET instances = instances + 1, workspace = workspace + excluded.workspace,
			memory = memory + excluded.memory, tmp = tmp + excluded.tmp;
END;
--> statement-breakpoint
CREATE TRIGGER instance_volumes_weighed_again AFTER UPDATE ON instance_volumes BEGIN
	UPDATE volumes_by_tenant SET workspace = workspace + new.workspace - old.workspace,
		memory = memory + new.memory - old.memory, tmp = tmp + new.tmp - old.tmp
		WHERE tenant = new.tenant;
END;
--> statement-breakpoint
CREATE TRIGGER instance_volumes_gone AFTER DELETE ON instance_volumes BEGIN
	UPDATE volumes_by_tenant SET instances = instances - 1, workspace = workspace - old.workspace,
		memory = memory - old.memory, tmp = tmp - old.tmp
		WHERE tenant = old.tenant;
END;
--> statement-breakpoint
CREATE TRIGGER instances_buried_volumes AFTER UPDATE OF tombstone ON instances WHEN old.tombstone = 0 AND new.tombstone = 1 BEGIN
	DELETE FROM instance_volumes WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_not_of_forgotten BEFORE INSERT ON instances
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER snapshots_not_of_forgotten BEFORE INSERT ON snapshots
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER blueprints_not_of_forgotten BEFORE INSERT ON blueprints
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER shares_not_of_forgotten BEFORE INSERT ON shares
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER keys_not_of_forgotten BEFORE INSERT ON keys
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER starts_not_of_forgotten BEFORE INSERT ON starts
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER tenants_not_of_forgotten BEFORE INSERT ON tenants
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER tenants_not_set_of_forgotten BEFORE UPDATE ON tenants
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER invitations_not_of_forgotten BEFORE INSERT ON invitations
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER user_not_of_forgotten BEFORE INSERT ON user
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER user_not_given_forgotten BEFORE UPDATE OF tenants ON user
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER shares_not_deleted BEFORE DELETE ON shares
WHEN NOT EXISTS (SELECT 1 FROM forgettings WHERE tenant = old.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'shares are append-only');
END;
--> statement-breakpoint
CREATE TRIGGER events_not_changed BEFORE UPDATE ON events
WHEN (old.seq, old.time_ms, old.instance, old.tenant, old.type, old."from", old."to", old."trigger", old.actor, old.via, old.source, old.took_ms)
	IS NOT (new.seq, new.time_ms, new.instance, new.tenant, new.type, new."from", new."to", new."trigger", new.actor, new.via, new.source, new.took_ms)
	OR NOT (
		(old.hash IS NULL AND new.hash IS NOT NULL AND new.blanked IS NULL
			AND (old.reason, old.error, old.request_id, old.address) IS (new.reason, new.error, new.request_id, new.address))
		OR (old.hash IS NOT NULL AND new.hash IS old.hash AND old.blanked IS NULL AND new.blanked IS NOT NULL
			AND (new.reason, new.error, new.request_id, new.address) IS (NULL, NULL, NULL, NULL)
			AND EXISTS (SELECT 1 FROM forgettings WHERE job = new.blanked ->> '$.by' AND finished IS NULL))
	) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER forgettings_stay BEFORE DELETE ON forgettings BEGIN
	SELECT raise(ABORT, 'that a tenant was forgotten is never forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER seeding_chunks_not_of_forgotten BEFORE INSERT ON seeding_chunks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER cpu_not_of_forgotten BEFORE INSERT ON cpu_by_day
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER schedules_not_of_forgotten BEFORE INSERT ON schedules
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER schedules_removed AFTER DELETE ON schedules BEGIN
	DELETE FROM schedule_runs WHERE schedule = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM schedules WHERE instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_archived AFTER UPDATE OF state ON instances
WHEN new.state = 'archived' AND old.state <> 'archived' BEGIN
	UPDATE schedules SET resting = 1, next_at = NULL, fire_at = NULL, backlog_until = NULL, revision = revision + 1
		WHERE instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_revived AFTER UPDATE OF state ON instances
WHEN old.state = 'archived' AND new.state NOT IN ('archived', 'deleted') BEGIN
	UPDATE schedules SET resting = 0, fire_at = iif(paused = 0 AND run IS NULL, 0, NULL), revision = revision + 1
		WHERE instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER workbooks_not_of_forgotten BEFORE INSERT ON workbooks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER workbook_versions_not_of_forgotten BEFORE INSERT ON workbook_versions
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_created AFTER INSERT ON instances WHEN new.workbook_version IS NOT NULL BEGIN
	INSERT OR IGNORE INTO schedule_syncs(instance) VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_docked AFTER UPDATE OF workbook, workbook_version ON instances
WHEN new.tombstone = 0 AND (old.workbook IS NOT new.workbook OR old.workbook_version IS NOT new.workbook_version) BEGIN
	INSERT OR IGNORE INTO schedule_syncs(instance) VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER schedules_not_synced AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM schedule_syncs WHERE instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_not_of_forgotten BEFORE INSERT ON webhooks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_removed AFTER DELETE ON webhooks BEGIN
	DELETE FROM webhook_deliveries WHERE webhook = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER instances_worded AFTER UPDATE OF words ON instances
WHEN old.words IS NOT new.words AND new.tombstone = 0 BEGIN
	UPDATE instance_text SET words = new.words WHERE rowid = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER runs_not_of_forgotten BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER runs_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM runs WHERE instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER tenant_hours_not_of_forgotten BEFORE INSERT ON tenant_hours
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER sandbox_hours_not_of_forgotten BEFORE INSERT ON sandbox_hours
WHEN EXISTS (
	SELECT 1 FROM forgettings
	WHERE tenant = (SELECT tenant FROM instances WHERE rowid = new.instance_row) AND finished IS NULL
) BEGIN
	SELECT raise(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER instances_inserted AFTER INSERT ON instances BEGIN
	INSERT INTO counts_by_state(state, n) VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_tenant(tenant, state, n) VALUES (new.tenant, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_fault(fault, n) SELECT new.fault, 1 WHERE new.fault IS NOT NULL AND new.tombstone = 0
		ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key, new.tenant, new.state
		FROM json_each(new.labels) AS entry WHERE new.tombstone = 0;
	INSERT INTO instance_text(rowid, words) SELECT new.rowid, new.words WHERE new.tombstone = 0;
END;
--> statement-breakpoint
CREATE TRIGGER instances_touched AFTER UPDATE OF updated, state ON instances
WHEN old.updated IS NOT new.updated OR old.state IS NOT new.state BEGIN
	UPDATE labels SET updated = new.updated, state = new.state WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_labelled AFTER UPDATE OF labels ON instances
WHEN old.labels IS NOT new.labels AND new.tombstone = 0 BEGIN
	DELETE FROM labels WHERE instance_row = new.rowid;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key, new.tenant, new.state
		FROM json_each(new.labels) AS entry;
END;
--> statement-breakpoint
CREATE TRIGGER environments_not_of_forgotten BEFORE INSERT ON environments
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER secrets_not_of_forgotten BEFORE INSERT ON secrets
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER guests_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM environments WHERE kind = 'instance' AND owner = new.id;
	DELETE FROM secrets WHERE tenant = new.tenant AND instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER environments_of_blueprint AFTER DELETE ON blueprints BEGIN
	DELETE FROM environments WHERE kind = 'blueprint' AND owner = old.name;
END;
--> statement-breakpoint
CREATE TRIGGER environments_of_snapshot AFTER UPDATE OF deleted ON snapshots
WHEN new.deleted IS NOT NULL BEGIN
	DELETE FROM environments WHERE kind = 'snapshot' AND owner = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER network_rules_not_of_forgotten BEFORE INSERT ON network_rules
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER network_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM network_rules WHERE kind = 'sandbox' AND id = new.id;
	DELETE FROM network_hours WHERE instance = new.id;
END;
