<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

/** The payment method in the checkout of blocks. */
final class Blocks extends AbstractPaymentMethodType
{
    protected $name = Gateway::ID;

    /** @var string */
    private $plugin;

    public function __construct(string $plugin)
    {
        $this->plugin = $plugin;
    }

    public function initialize()
    {
        $this->settings = get_option('woocommerce_' . Gateway::ID . '_settings', []);
    }

    public function is_active()
    {
        return ($this->settings['enabled'] ?? 'no') === 'yes' && Settings::load()->complete();
    }

    public function get_payment_method_script_handles()
    {
        $needs = ['wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities'];
        wp_register_script('bursar-blocks', plugins_url('assets/blocks.js', $this->plugin), $needs, '1.0.0', true);
        return ['bursar-blocks'];
    }

    public function get_payment_method_data()
    {
        return [
            'title' => $this->get_setting('title'),
            'description' => $this->get_setting('description'),
            'supports' => ['products', 'refunds'],
        ];
    }
}
