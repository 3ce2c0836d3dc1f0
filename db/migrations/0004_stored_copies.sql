ALTER TABLE `store_names` ADD `hash` text;--> statement-breakpoint
CREATE INDEX `store_names_by_hash` ON `store_names` (`hash`,`kind`) WHERE hash is not null;