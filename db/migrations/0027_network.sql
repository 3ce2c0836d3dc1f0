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
CREATE INDEX `network_rules_by_tenant` ON `network_rules` (`tenant`);
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
