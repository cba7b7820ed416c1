<?php
/**
 * Plugin Name: Bursar for WooCommerce
 * Description: Takes payments in cryptocurrencies by your own Bursar service.
 * Version: 1.0.0
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 7.1
 * WC tested up to: 11.0
 * License: Apache-2.0
 * Text Domain: bursar
 */

declare(strict_types=1);

namespace Bursar\WooCommerce;

defined('ABSPATH') || exit;

require __DIR__ . '/client/autoload.php'; // clients/php, copied beside this file

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/includes/' . substr($class, strlen(__NAMESPACE__) + 1) . '.php';
    if (strncmp($class, __NAMESPACE__ . '\\', strlen(__NAMESPACE__) + 1) === 0 && is_file($file)) {
        require $file;
    }
});

add_action('before_woocommerce_init', static function (): void {
    if (class_exists(\Automattic\WooCommerce\Utilities\FeaturesUtil::class)) {
        foreach (['custom_order_tables', 'cart_checkout_blocks'] as $feature) {
            \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility($feature, __FILE__, true);
        }
    }
});

add_filter('woocommerce_payment_gateways', static function (array $gateways): array {
    $gateways[] = Gateway::class;
    return $gateways;
});

// Gateway::ID, which cannot be named here: WordPress loads this file before WooCommerce, whose class Gateway extends.
add_action('woocommerce_api_bursar', static function (): void {
    $body = (string) file_get_contents('php://input', false, null, 0, Webhooks::MAX_BODY + 1);
    status_header((new Webhooks(Settings::load()))->receive($_SERVER, $body));
    exit;
});

add_action('woocommerce_blocks_payment_method_type_registration', static function ($registry): void {
    $registry->register(new Blocks(__FILE__));
});
