<?php

declare(strict_types=1);

// Loads the plugin as WordPress does: plugins come in the order of their names (wp-admin/includes/plugin.php,
// activate_plugin, of 6.9.7), so bursar comes before woocommerce, and no class of WooCommerce is there yet.

const ABSPATH = '/';

$GLOBALS['hooks'] = [];

function add_action(string $hook, callable $do): void
{
    $GLOBALS['hooks'][$hook] = $do;
}

function add_filter(string $hook, callable $do): void
{
    add_action($hook, $do);
}

// In place of bursar.php's copy of the client, which a shop has beside it.
$plugin = file_get_contents(__DIR__ . '/../bursar.php');
$plugin = str_replace("__DIR__ . '/client/autoload.php'", var_export(__DIR__ . '/../../php/autoload.php', true), $plugin);
$plugin = str_replace('__DIR__', var_export(realpath(__DIR__ . '/..'), true), $plugin);
$copy = tempnam(sys_get_temp_dir(), 'bursar');
file_put_contents($copy, $plugin);
try {
    require $copy;
} finally {
    unlink($copy);
}

foreach (['woocommerce_payment_gateways', 'woocommerce_api_bursar'] as $hook) {
    if (!isset($GLOBALS['hooks'][$hook])) {
        echo "FAIL the plugin waits for ", implode(', ', array_keys($GLOBALS['hooks'])), ", want $hook too\n";
        exit(1);
    }
}
echo "the plugin loads before WooCommerce\n";
