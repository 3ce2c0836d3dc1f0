CREATE TABLE `backups` (
	`id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`target` text NOT NULL,
	`planned` integer,
	`actor` text NOT NULL,
	`reason` text,
	`asked_ms` integer NOT NULL,
	`begun_ms` integer,
	`ended_ms` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`total` integer DEFAULT 0 NOT NULL,
	`sandboxes` integer,
	`bytes` integer,
	`added_objects` integer,
	`added_bytes` integer,
	`wrong` integer,
	`keys` integer DEFAULT false NOT NULL,
	`error` text,
	`verified_ms` integer,
	`verified_took_ms` integer,
	`verified_error` text
);
--> statement-breakpoint
CREATE INDEX `backups_by_state` ON `backups` (`state`,`id`);