/* usl.c - see the header. The start is a linear least-squares fit: N / X = (1 + a (N - 1) + b N (N - 1)) / c is linear in
 * 1/c, a/c and b/c. */
#include "sim/lab/usl.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

enum { PARAMETERS = 3, STEPS_MOST = 200 };

struct sample {
    const struct usl_point *points;
    size_t count;
};

static double denominator(double a, double b, double n) { return 1 + a * (n - 1) + b * n * (n - 1); }

static int residuals(const gsl_vector *at, void *data, gsl_vector *out) {
    const struct sample *sample = data;
    double a = gsl_vector_get(at, 0), b = gsl_vector_get(at, 1), c = gsl_vector_get(at, 2);
    for (size_t i = 0; i < sample->count; i++) {
        const struct usl_point *point = &sample->points[i];
        gsl_vector_set(out, i, c * point->n / denominator(a, b, point->n) - point->throughput);
    }
    return GSL_SUCCESS;
}

static int derivatives(const gsl_vector *at, void *data, gsl_matrix *out) {
    const struct sample *sample = data;
    double a = gsl_vector_get(at, 0), b = gsl_vector_get(at, 1), c = gsl_vector_get(at, 2);
    for (size_t i = 0; i < sample->count; i++) {
        double n = sample->points[i].n, below = denominator(a, b, n), slope = -c * n / (below * below);
        gsl_matrix_set(out, i, 0, slope * (n - 1));
        gsl_matrix_set(out, i, 1, slope * n * (n - 1));
        gsl_matrix_set(out, i, 2, n / below);
    }
    return GSL_SUCCESS;
}

/* The linear fit, each row weighted by X/N so that relative errors of X count alike. */
static bool start(const struct sample *sample, gsl_vector *at) {
    gsl_matrix *rows = gsl_matrix_alloc(sample->count, PARAMETERS),
               *covariance = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
    gsl_vector *ones = gsl_vector_alloc(sample->count), *found = gsl_vector_alloc(PARAMETERS);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(sample->count, PARAMETERS);
    for (size_t i = 0; i < sample->count; i++) {
        double n = sample->points[i].n, scale = sample->points[i].throughput / n;
        gsl_matrix_set(rows, i, 0, scale);
        gsl_matrix_set(rows, i, 1, scale * (n - 1));
        gsl_matrix_set(rows, i, 2, scale * n * (n - 1));
        gsl_vector_set(ones, i, 1);
    }
    double squares;
    bool good = gsl_multifit_linear(rows, ones, found, covariance, &squares, work) == GSL_SUCCESS;
    double inverse = gsl_vector_get(found, 0);
    good = good && isfinite(inverse) && inverse > 0;
    if (good) {
        gsl_vector_set(at, 0, gsl_vector_get(found, 1) / inverse);
        gsl_vector_set(at, 1, gsl_vector_get(found, 2) / inverse);
        gsl_vector_set(at, 2, 1 / inverse);
    }
    gsl_multifit_linear_free(work);
    gsl_vector_free(ones);
    gsl_vector_free(found);
    gsl_matrix_free(rows);
    gsl_matrix_free(covariance);
    return good;
}

static void take(gsl_multifit_nlinear_workspace *work, const struct sample *sample, struct usl *fit) {
    const gsl_vector *at = gsl_multifit_nlinear_position(work), *rest = gsl_multifit_nlinear_residual(work);
    gsl_matrix *covariance = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 0, covariance);
    double squares;
    gsl_blas_ddot(rest, rest, &squares);
    double variance = squares / (double)(sample->count - PARAMETERS);
    *fit = (struct usl){.a = gsl_vector_get(at, 0),
                        .b = gsl_vector_get(at, 1),
                        .c = gsl_vector_get(at, 2),
                        .a_error = sqrt(variance * gsl_matrix_get(covariance, 0, 0)),
                        .b_error = sqrt(variance * gsl_matrix_get(covariance, 1, 1)),
                        .c_error = sqrt(variance * gsl_matrix_get(covariance, 2, 2)),
                        .n_least = sample->points[0].n,
                        .n_most = sample->points[0].n};
    for (size_t i = 0; i < sample->count; i++) {
        const struct usl_point *point = &sample->points[i];
        double miss = fabs(usl_at(fit, point->n) / point->throughput - 1);
        fit->miss_most = fmax(fit->miss_most, miss);
        fit->n_least = fmin(fit->n_least, point->n);
        fit->n_most = fmax(fit->n_most, point->n);
    }
    gsl_matrix_free(covariance);
}

static bool search(const struct sample *sample, gsl_vector *at, struct usl *fit) {
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, sample->count, PARAMETERS);
    struct sample data = *sample;
    gsl_multifit_nlinear_fdf system = {
        .f = residuals, .df = derivatives, .n = sample->count, .p = PARAMETERS, .params = &data};
    int why = GSL_SUCCESS, end = gsl_multifit_nlinear_init(at, &system, work);
    if (end == GSL_SUCCESS) {
        end = gsl_multifit_nlinear_driver(STEPS_MOST, 1e-10, 1e-10, 0, NULL, NULL, &why, work);
    }
    bool good = end == GSL_SUCCESS || why == GSL_ENOPROG; /* the latter: the start cannot be bettered */
    if (good) {
        take(work, sample, fit);
        good = isfinite(fit->a) && isfinite(fit->b) && isfinite(fit->miss_most) && fit->c > 0;
    }
    gsl_multifit_nlinear_free(work);
    return good;
}

bool usl_fit(const struct usl_point *points, size_t count, struct usl *fit) {
    for (size_t i = 0; i < count; i++) {
        if (!(points[i].n >= 1 && points[i].throughput > 0)) {
            return false;
        }
    }
    if (count < USL_POINTS_LEAST) {
        return false;
    }
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    struct sample sample = {points, count};
    gsl_vector *at = gsl_vector_alloc(PARAMETERS);
    bool good = start(&sample, at) && search(&sample, at, fit);
    gsl_vector_free(at);
    gsl_set_error_handler(before);
    return good;
}

double usl_at(const struct usl *fit, double n) { return fit->c * n / denominator(fit->a, fit->b, n); }

bool usl_misses(const struct usl *fit, const struct usl_point *point) {
    return fabs(usl_at(fit, point->n) - point->throughput) > USL_TOLERANCE * point->throughput;
}

bool usl_peak(const struct usl *fit, const struct usl_point *points, size_t count, double *n) {
    if (!(fit->b > 2 * fit->b_error && fit->a < 1)) {
        return false;
    }
    *n = sqrt((1 - fit->a) / fit->b);
    const struct usl_point *below = NULL, *above = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct usl_point *point = &points[i];
        if (point->n <= *n && (below == NULL || point->n > below->n)) {
            below = point;
        }
        if (point->n >= *n && (above == NULL || point->n < above->n)) {
            above = point;
        }
    }
    return below != NULL && above != NULL && !usl_misses(fit, below) && !usl_misses(fit, above);
}
