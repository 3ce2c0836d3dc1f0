CREATE TABLE `cpu_by_day` (
	`tenant` text NOT NULL,
	`day` integer NOT NULL,
	`seconds` real NOT NULL,
	PRIMARY KEY(`tenant`, `day`)
);
--> statement-breakpoint
ALTER TABLE `tenants` ADD `max_daily_cpu_s` integer;
--> statement-breakpoint
CREATE TRIGGER cpu_not_of_forgotten BEFORE INSERT ON cpu_by_day
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(IGNORE);
END;