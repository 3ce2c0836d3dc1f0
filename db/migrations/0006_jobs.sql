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
	`skipped` integer DEFAULT 0 NOT NULL
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
ALTER TABLE `counts_by_tenant` ADD `bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `max_sandboxes` integer;--> statement-breakpoint
ALTER TABLE `tenants` ADD `max_active` integer;--> statement-breakpoint
ALTER TABLE `tenants` ADD `max_bytes` integer;
--> statement-breakpoint
UPDATE counts_by_tenant SET bytes = (
	SELECT coalesce(sum(bytes), 0) FROM instances
	WHERE instances.tenant = counts_by_tenant.tenant AND instances.state = counts_by_tenant.state);
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
