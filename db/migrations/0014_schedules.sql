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
	`actor` text NOT NULL
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
CREATE INDEX `schedules_resting` ON `schedules` (`resting`) WHERE resting = 1;
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
