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
CREATE INDEX `runs_under_way_of_tenant` ON `runs` (`tenant`) WHERE ended_ms is null;
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
