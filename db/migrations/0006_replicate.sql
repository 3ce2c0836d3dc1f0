ALTER TABLE `blueprints` ADD `replicate` text;--> statement-breakpoint
ALTER TABLE `instances` ADD `replicate` text;--> statement-breakpoint
ALTER TABLE `tenants` ADD `replicate` text;--> statement-breakpoint
CREATE INDEX `tenants_with_replicate` ON `tenants` (`tenant`,`replicate`) WHERE replicate is not null;