CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`email` text,
	`role` text NOT NULL,
	`tenants` text,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`expires` integer NOT NULL,
	`used` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_hash_unique` ON `invitations` (`hash`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`tenant` text,
	`hash` text NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`expires` integer,
	`last_used` integer,
	`revoked` integer
);
--> statement-breakpoint
CREATE INDEX `keys_by_created` ON `keys` (`created`);--> statement-breakpoint
ALTER TABLE `user` ADD `tenants` text;--> statement-breakpoint
CREATE INDEX `instances_whose` ON `instances` (`id`,`tenant`);