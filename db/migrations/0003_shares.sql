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
CREATE TRIGGER shares_not_changed BEFORE UPDATE ON shares BEGIN
	SELECT RAISE(ABORT, 'shares are append-only');
END;
--> statement-breakpoint
CREATE TRIGGER shares_not_deleted BEFORE DELETE ON shares BEGIN
	SELECT RAISE(ABORT, 'shares are append-only');
END;
