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
CREATE INDEX `webhooks_by_tenant` ON `webhooks` (`tenant`);
--> statement-breakpoint
CREATE TRIGGER webhooks_not_of_forgotten BEFORE INSERT ON webhooks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_removed AFTER DELETE ON webhooks BEGIN
	DELETE FROM webhook_deliveries WHERE webhook = old.id;
END;
