package config

import "math"

// contrast returns the contrast of two colours, from 1 to 21, as WCAG 2.2 defines it.
func contrast(a, b string) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// luminance returns the relative luminance of a colour (WCAG 2.2).
func luminance(colour string) float64 {
	linear := func(c float64) float64 {
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	red, green, blue, _ := rgb(colour)
	return 0.2126*linear(red) + 0.7152*linear(green) + 0.0722*linear(blue)
}
