ALTER TABLE `instances` ADD `hot_to_warm_s` integer;--> statement-breakpoint
ALTER TABLE `tenants` ADD `hot_to_warm_s` integer;