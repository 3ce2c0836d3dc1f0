ALTER TABLE `hosts` ADD `url` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `capacity` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `version` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `labels` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `draining` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `renewals` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `renewed_ms` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `lease_ms` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `token` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `public_key` text;