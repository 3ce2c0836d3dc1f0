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
CREATE UNIQUE INDEX `tenant_hours_of` ON `tenant_hours` (`tenant`,`hour`);
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
