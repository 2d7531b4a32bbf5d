//! How long the target of known times takes for a request.

use std::time::Duration;

/// The service time of one request, apart from waiting for a place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Distribution {
    /// Always the same.
    Fixed(f64),
    /// Exponential, with this mean.
    Exponential(f64),
    /// The low time, or with this probability the high one.
    Bimodal(f64, f64, f64),
}

/// The target's behaviour towards a request. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Service {
    distribution: Distribution,
    /// The target stands still for the first time out of each second one.
    stall: Option<(f64, f64)>,
    /// How many requests it serves at a time; the others wait.
    pub places: Option<usize>,
}

impl Service {
    /// The service that a text describes: `fixed=MS`, `exponential=MEAN` or `bimodal=LOW,HIGH,SHARE`, then `stall=LENGTH,PERIOD`
    /// and `places=COUNT`, joined by `&`. `None` if it says anything else.
    pub fn read(text: &str) -> Option<Service> {
        let mut service = Service {
            distribution: Distribution::Fixed(0.0),
            stall: None,
            places: None,
        };
        if text.is_empty() {
            return None;
        }
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let numbers: Option<Vec<f64>> =
                value.split(',').map(|part| part.parse().ok()).collect();
            match (&*name, numbers?.as_slice()) {
                ("fixed", [ms]) => service.distribution = Distribution::Fixed(*ms),
                ("exponential", [ms]) => service.distribution = Distribution::Exponential(*ms),
                ("bimodal", [low, high, share]) => {
                    service.distribution = Distribution::Bimodal(*low, *high, *share);
                }
                ("stall", [length, period]) if *period > 0.0 => {
                    service.stall = Some((*length, *period));
                }
                ("places", [count]) if *count >= 1.0 => service.places = Some(*count as usize),
                _ => return None,
            }
        }
        Some(service)
    }

    /// When a request that begins at a time is served, since the Unix epoch. A stall delays its begin.
    pub fn end(&self, begin: Duration) -> Duration {
        let wait_ms = self
            .stall
            .map(|(length, period)| {
                let phase = (begin.as_secs_f64() * 1000.0) % period;
                (length - phase).max(0.0)
            })
            .unwrap_or(0.0);
        begin + Duration::from_secs_f64((wait_ms + self.draw_ms()).max(0.0) / 1000.0)
    }

    fn draw_ms(&self) -> f64 {
        match self.distribution {
            Distribution::Fixed(ms) => ms,
            Distribution::Exponential(mean) => -(1.0 - fastrand::f64()).ln() * mean,
            Distribution::Bimodal(low, high, share) => {
                if fastrand::f64() < share {
                    high
                } else {
                    low
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str, begin_ms: u64) -> f64 {
        let service = Service::read(text).expect("a service");
        let begin = Duration::from_millis(begin_ms);
        (service.end(begin) - begin).as_secs_f64() * 1000.0
    }

    fn close(value: f64, to: f64) {
        assert!((value - to).abs() < 0.001, "{value} is not {to}");
    }

    #[test]
    fn a_text_describes_the_service() {
        close(ms("fixed=7.5", 50), 7.5);
        close(ms("fixed=7&stall=100,1000", 5_040), 67.0);
        close(ms("fixed=7&stall=100,1000", 5_100), 7.0);
        let places = |text| Service::read(text).map(|service| service.places);
        assert_eq!(places("fixed=1&places=4"), Some(Some(4)));
        assert_eq!(places("bimodal=1,2,0.5"), Some(None));
        for wrong in ["fixed=x", "bimodal=1,2", "places=0", "slow=1", ""] {
            assert_eq!(Service::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_have_the_distribution_of_the_text() {
        const COUNT: u32 = 20_000;
        let mean = |text| (0..COUNT).map(|_| ms(text, 0)).sum::<f64>() / f64::from(COUNT);
        // Twenty thousand exponential times have a mean that is off by 0.7 % at one standard deviation.
        assert!((mean("exponential=10") - 10.0).abs() < 0.5);
        assert!((mean("bimodal=1,11,0.1") - 2.0).abs() < 0.15);
    }
}
